/** The panel of recordings. */

import { number, t } from "../language.js";
import { SELECT } from "./fields.js";

export const ReplayPanel = {
  props: { recordings: Array, replay: Object, mayChange: Boolean, instructor: Boolean },
  emits: ["send"],
  template: `
    <div class="st-form">
      <q-select ${SELECT} v-model="recording" :options="offered" :label="t('Recording')" use-input fill-input hide-selected
        input-debounce="0" @filter="filter" @input-value="recording = $event.trim()"
        :hint="t('The newest are listed; for an older one type its name.')"/>
      <div class="st-buttons">
        <q-btn unelevated no-caps color="primary" :label="t('Open')" :disable="!recording || !mayChange" @click="ask('open')"/>
        <q-btn outline no-caps :label="t('Close')" :disable="!replay" @click="ask('close')"/>
        <q-btn v-if="instructor" outline no-caps :disable="!recording || recording === replay?.name"
          :label="doubted === recording && recording ? t('Delete for ever') : t('Delete')" @click="remove"/>
      </div>
      <template v-if="replay">
        <h3>{{ replay.name }}</h3>
        <q-slider :model-value="time" :min="0" :max="replay.duration" :step="0.01" label :label-value="number(time, 2) + ' s'"
          :aria-label="t('time')" @update:model-value="scrub" @change="scrubbed = null"/>
        <p class="st-hint">{{ t('{done} of {all}', { done: number(time, 1) + ' s', all: number(replay.duration, 1) + ' s' }) }}</p>
        <div class="st-buttons">
          <q-btn v-if="replay.playing" unelevated no-caps color="primary" :label="t('Pause')" @click="ask('pause')"/>
          <q-btn v-else unelevated no-caps color="primary" :label="t('Play')" @click="ask('play')"/>
          <q-btn v-for="fault in replay.faults" :key="fault.time" outline no-caps :title="fault.text"
            :label="t('Fault at {time} s', { time: number(fault.time, 1) })" @click="ask('seek', Math.max(0, fault.time - 3))"/>
          <q-select class="st-speed" ${SELECT} v-model="speed" :options="speeds" :label="t('Speed')" @update:model-value="replay.playing && ask('play')"/>
        </div>
      </template>
      <p v-else-if="!recordings.length" class="st-hint">{{ t('A run is listed here once it was stopped.') }}</p>
    </div>`,
  data() {
    const speeds = [0.1, 0.25, 0.5, 1, 2, 5, 10].map((value) => ({ label: `${value} ×`, value }));
    return { recording: this.replay?.name ?? null, speed: this.replay?.speed ?? 1, speeds, scrubbed: null, doubted: null, typed: "" };
  },
  computed: {
    offered() {
      return this.recordings.filter((name) => name.includes(this.typed));
    },
    time() {
      return Math.min(this.scrubbed ?? this.replay.time, this.replay.duration);
    },
  },
  methods: {
    number,
    t,
    filter(typed, update) {
      update(() => (this.typed = typed === this.recording && this.recordings.includes(typed) ? "" : typed.trim()));
    },
    ask(action, time = null) {
      const { recording, speed } = this;
      this.$emit("send", { type: "replay", action, recording, time, speed });
    },
    /** Delete the recording, at the second click. */
    remove() {
      const { recording } = this;
      if (this.doubted !== recording) return (this.doubted = recording);
      this.$emit("send", { type: "delete", recording });
      this.recording = this.doubted = null;
    },
    scrub(time) {
      this.scrubbed = time;
      this.ask("seek", time);
    },
  },
};
