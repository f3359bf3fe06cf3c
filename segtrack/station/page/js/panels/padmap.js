/** The panel that maps a gamepad: it asks for one stick, trigger and button after another. */

import { Mapper, forgetMap, keepMap, keptMap } from "../padmap.js";
import { nameOf, t } from "../language.js";

const PERIOD = 50; // [ms]

export const PadPanel = {
  props: { pad: Object },
  template: `
    <div class="st-form st-padmap">
      <p class="st-hint">{{ name ? t('Gamepad: {name}', { name }) : t('No gamepad: press one of its buttons.') }}</p>
      <template v-if="wanted">
        <strong>{{ t(task, { what: nameOf(wanted.name) }) }}</strong>
        <div class="st-buttons">
          <q-btn outline no-caps :label="t('It has none')" :disable="!maySkip" @click="skip"/>
          <q-btn v-if="mayEnd" outline no-caps :label="t('Without the camera')" @click="end(true)"/>
          <q-btn outline no-caps :label="t('Cancel')" @click="end(false)"/>
        </div>
      </template>
      <div v-else class="st-buttons">
        <q-btn outline no-caps :label="t('Map the gamepad')" :disable="!name" @click="begin"/>
        <q-btn v-if="isMapped" outline no-caps :label="t('Forget its map')" @click="forget"/>
      </div>
      <p v-if="name && !wanted" class="st-hint">{{ t('Move each stick and trigger once before: some read wrong until then.') }}</p>
      <div v-if="name" class="st-bars"><meter v-for="(value, i) in axes" :key="i" min="-1" max="1" :value="value"
        :aria-label="t('axis {number}', { number: i + 1 })"></meter></div>
    </div>`,
  data: () => ({ name: "", axes: [], wanted: null, maySkip: false, mayEnd: false, isFound: false, isOthers: false, isMapped: false }),
  created() {
    this.mapper = null;
  },
  mounted() {
    this.timer = setInterval(() => this.look(), PERIOD);
    this.look();
  },
  beforeUnmount() {
    clearInterval(this.timer);
    this.end(false);
  },
  computed: {
    task() {
      if (this.isFound) return "Let go: {what}";
      if (this.isOthers) return "That is another one already: let go";
      return this.wanted.axis === undefined ? "Press {what}, and let go" : "Move the {what}, and let go";
    },
  },
  methods: {
    t,
    nameOf,
    look() {
      const raw = this.pad.pad;
      Object.assign(this, { name: this.pad.name, axes: [...this.pad.axes], isMapped: raw !== null && keptMap(raw) !== null });
      if (!this.mapper) return;
      if (raw?.id !== this.mapper.id) return this.end(false);
      this.mapper.look(raw);
      this.ask();
      if (!this.wanted) this.end(true);
    },
    ask() {
      const { wanted, maySkip, mayEnd, isFound, isOthers } = this.mapper;
      Object.assign(this, { wanted, maySkip, mayEnd, isFound, isOthers });
    },
    begin() {
      this.mapper = new Mapper(this.pad.pad);
      this.pad.isMapped(true);
      this.ask();
    },
    skip() {
      this.mapper.skip();
      this.look();
    },
    end(keeps) {
      if (keeps) keepMap(this.mapper);
      Object.assign(this, { wanted: null, mapper: null });
      this.pad.isMapped(false);
    },
    forget() {
      forgetMap(this.pad.pad);
      this.pad.isMapped(false);
    },
  },
};
