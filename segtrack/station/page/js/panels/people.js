/** The panel of the clients, and their degraded links. */

import { inLanguage, t } from "../language.js";
import { SELECT, numberOr } from "./fields.js";

const LINK = [
  ["delay", "delay [ms]", 1000],
  ["jitter", "jitter [ms]", 1000],
  ["loss", "loss [%]", 100],
  ["rate", "rate [1/s]", 1],
];
const WAYS = { video: "picture", telemetry: "readings", command: "commands" };
const CLEAR = { delay: 0, jitter: 0, loss: 0, rate: 100 };
const clear = () => Object.fromEntries(Object.keys(WAYS).map((way) => [way, { ...CLEAR }]));

export const InstructorPanel = {
  props: { status: Object, client: Number, instructor: Boolean, name: String },
  emits: ["send", "role", "name"],
  template: `
    <div class="st-form">
      <q-input dense outlined :model-value="name" :label="t('Your name')" maxlength="40" debounce="600"
        @update:model-value="(name) => name.trim() && $emit('name', name.trim())"/>
      <a :href="inLanguage('station/class')" target="_blank" rel="noopener">{{ t('The class: who has passed what') }}</a>
      <table class="st-events"><thead><tr><th>{{ t('client') }}</th><th>{{ t('role') }}</th><th></th></tr></thead><tbody>
        <tr v-for="other in status.clients" :key="other.id">
          <td>{{ other.name }}{{ other.id === client ? " " + t('(you)') : "" }}</td>
          <td>{{ other.id === status.driver ? t('drives') : place(other.id) || t(other.role) }}</td>
          <td><q-btn v-if="mayGive && other.id !== status.driver" outline no-caps padding="4px 10px" :label="t('Give')"
            @click="ask('give', other.id)"/></td>
        </tr></tbody></table>
      <div class="st-buttons">
        <q-btn unelevated no-caps color="primary" :label="t('Take over')" :disable="!instructor || drives" @click="ask('take')"/>
        <q-btn v-if="instructor" outline no-caps :label="t('Give back')" @click="ask('give')"/>
        <q-btn outline no-caps :label="t('Release the seat')" :disable="!drives" @click="ask('release')"/>
        <q-btn v-if="!instructor" outline no-caps :label="t('Come in as instructor')" @click="$emit('role', 'instructor')"/>
      </div>
      <template v-if="instructor">
        <h3>{{ t('Degraded link') }}</h3>
        <q-select ${SELECT} v-model="of" :options="others" :label="t('Client')"/>
        <table class="st-link"><thead><tr><th></th><th v-for="word in ways" :key="word">{{ t(word) }}</th></tr></thead><tbody>
          <tr v-for="[name, label] in rows" :key="name"><th>{{ t(label) }}</th>
            <td v-for="(word, way) in ways" :key="way"><input type="number" min="0" step="any"
              v-model.number="form[way][name]" :aria-label="t(word) + ' ' + t(label)"></td></tr></tbody></table>
        <div class="st-buttons">
          <q-btn unelevated no-caps color="primary" :label="t('Degrade')" :disable="of === null" @click="degrade(form)"/>
          <q-btn outline no-caps :label="t('Clear')" :disable="of === null" @click="clear"/>
        </div>
        <p v-if="now" class="st-hint">{{ now }}</p>
      </template>
    </div>`,
  data: () => ({
    of: null,
    rows: LINK,
    ways: WAYS,
    form: clear(),
  }),
  computed: {
    drives() {
      return this.status.driver === this.client;
    },
    mayGive() {
      return this.instructor || this.drives;
    },
    others() {
      return this.status.clients.map(({ id, name }) => ({ label: name, value: id }));
    },
    place() {
      return (id) => {
        const at = this.status.queue.indexOf(id);
        return at < 0 ? "" : t("waits, number {place}", { place: at + 1 });
      };
    },
    /** The chosen client's link in words, as far as it is not perfect. */
    now() {
      const link = this.status.links?.[this.of];
      if (!link) return "";
      const words = Object.entries(WAYS).flatMap(([way, word]) =>
        LINK.filter(([name]) => link[way][name] !== CLEAR[name]).map(
          ([name, label, unit]) => `${t(word)}: ${t(label).replace("[", `${+(unit * link[way][name]).toFixed(3)} `).replace("]", "")}`,
        ),
      );
      return t("Now {words}.", { words: words.join(", ") });
    },
  },
  watch: {
    /** Show the link of the chosen client. */
    of(client) {
      const link = this.status.links?.[client];
      this.form = clear();
      for (const way of link ? Object.keys(WAYS) : []) {
        for (const [name, , unit] of LINK) this.form[way][name] = +(unit * link[way][name]).toFixed(6);
      }
    },
  },
  methods: {
    inLanguage,
    t,
    ask(action, to = null) {
      this.$emit("send", { type: "request", action, to });
    },
    degrade(form) {
      const inUnits = (way) => Object.fromEntries(LINK.map(([name, , unit]) => [name, numberOr(form[way][name], 0) / unit]));
      const ways = Object.fromEntries(Object.keys(WAYS).map((way) => [way, inUnits(way)]));
      this.$emit("send", { type: "link", client: this.of, ...ways, seed: this.status.setup?.seed ?? 0 });
    },
    clear() {
      this.form = clear();
      this.degrade(this.form);
    },
  },
};
