/** The card of the first lesson: the control that comes next, as it is on the device in use. */

import { labelOf } from "../keyboard.js";
import { t } from "../language.js";

const TITLES = {
  start: "Press Start: the simulation runs",
  forward: "Drive forward",
  left: "Turn left",
  right: "Turn right",
  raise: "Raise the front flippers",
  lower: "Lower the front flippers",
  stop: "Stop everything: the emergency stop",
  release: "Release the emergency stop",
  gates: "Drive through the gates to the goal, and stay inside the lines",
};

export const LessonCard = {
  props: { step: Object, number: Number, count: Number, bindings: Array, device: String, trialOn: Boolean, voids: Number, mayRun: Boolean },
  emits: ["begin", "start", "skip", "leave"],
  template: `
    <div class="st-lesson" role="status" aria-live="polite">
      <span class="st-hint">{{ t('First lesson, step {number} of {count}', { number: number + 1, count }) }}</span>
      <strong>{{ t(title) }}</strong>
      <span v-if="voids" class="st-bad">{{ t('Repetitions that do not count, since the simulation is too slow: {count}', { count: voids }) }}</span>
      <div v-if="inputs.length" class="st-caps">
        <span>{{ t(device === 'keyboard' ? 'Hold or press' : device === 'gamepad' ? 'Hold and move' : 'Move or press') }}</span>
        <kbd v-for="input in inputs" :key="input">{{ input }}</kbd></div>
      <div class="st-buttons">
        <q-btn v-if="step.name === 'start'" unelevated no-caps color="primary" icon="play_arrow" :label="t('Start')"
          :disable="!mayRun" @click="$emit('start')"/>
        <q-btn v-if="step.name === 'gates' && !trialOn" unelevated no-caps color="primary" :label="t('Begin')"
          :disable="!mayRun" @click="$emit('begin')"/>
        <q-btn v-if="step.name !== 'gates'" flat no-caps :label="t('Skip to the exercise')" @click="$emit('skip')"/>
        <q-btn flat no-caps :label="t('Leave the lesson')" @click="$emit('leave')"/>
      </div>
    </div>`,
  computed: {
    title() {
      return TITLES[this.step.name];
    },
    inputs() {
      const { step, device } = this;
      if (!step.action) return [];
      if (device !== "keyboard") return step[device === "gamepad" ? "pad" : "touch"].map((words) => t(words));
      const rows = this.bindings.filter((row) => row.device === device && row.action.startsWith(step.action));
      return rows.flatMap((row) => row.inputs.map(labelOf));
    },
  },
  methods: { t },
};
