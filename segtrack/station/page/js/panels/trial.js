/** The panel of the trial. */

import { inLanguage, number, t, told } from "../language.js";
import { SELECT } from "./fields.js";

export const TrialPanel = {
  props: { trial: Object, mayChange: Boolean, instructor: Boolean, recordings: Array, ghost: String, report: String, operator: String },
  emits: ["send"],
  template: `
    <div class="st-form">
      <p class="st-hint">{{ operator ? t('Operator: {name}', { name: operator }) : t('Nobody drives.') }}</p>
      <q-select ${SELECT} v-model="repetitions" :options="[10, 20, 30]" :label="t('Repetitions')" :disable="running"/>
      <div class="st-buttons">
        <q-btn unelevated no-caps color="primary" :label="t('Begin')" :disable="!mayChange || running" @click="ask('begin')"/>
        <q-btn outline no-caps :label="t('Help was given')" :disable="!mayChange || !running" @click="ask('help')"/>
        <q-btn outline no-caps :label="t('Raise setting')" :disable="!mayChange" @click="ask('raise')"/>
        <q-btn outline no-caps :label="t('Abandon')" :disable="!mayChange || !running" @click="ask('abandon')"/>
        <q-btn v-if="instructor" outline no-caps :label="t('Make this operator the expert')" @click="ask('expert')"/>
      </div>
      <dl v-if="trial" class="st-facts">
        <div><dt>{{ t('operator') }}</dt><dd>{{ trial.operator }}</dd></div>
        <div><dt>{{ t('completed') }}</dt><dd>{{ t('{done} of {all}', { done: trial.done, all: trial.repetitions }) }}</dd></div>
        <div><dt>{{ t('failures') }}</dt><dd>{{ trial.failures }}</dd></div>
        <div v-if="trial.void"><dt>{{ t('void: too slow') }}</dt><dd>{{ trial.void }}</dd></div>
        <div><dt>{{ t('rate') }}</dt><dd>{{ trial.rate === null ? "–" : number(trial.rate, 2) + " " + trial.unit }}</dd></div>
        <div><dt>{{ t('against the expert') }}</dt><dd>{{ percent(trial.expert_fraction) }}</dd></div>
        <div><dt>{{ t('confidence') }}</dt><dd>{{ percent(trial.confidence) }}</dd></div>
        <div v-for="[gate, time, behind] in splits" :key="gate"><dt>{{ t('gate {number}', { number: gate }) }}</dt>
          <dd>{{ time }}<span v-if="behind" :class="behind.startsWith('+') ? 'st-behind' : 'st-ahead'">{{ ' ' + behind }}</span></dd></div>
        <div v-if="trial.over"><dt>{{ t('result') }}</dt><dd>{{ trial.passed ? t('passed') : t('not passed') }}</dd></div>
      </dl>
      <table v-if="events.length" class="st-events"><thead><tr><th>{{ t('time') }}</th><th>{{ t('what happened') }}</th></tr></thead>
        <tbody><tr v-for="(event, i) in events" :key="i"><td>{{ number(event.clock, 1) }} s</td>
          <td>{{ told(event.text) }}</td></tr></tbody></table>
      <p v-else class="st-hint">{{ t('Faults and completed repetitions are listed here.') }}</p>
      <q-select ${SELECT} :model-value="ghost" :options="ghosts" :label="t('Ghost: a recorded run')"
        :disable="!mayChange" @update:model-value="(recording) => $emit('send', { type: 'ghost', recording })"/>
      <q-btn outline no-caps :label="t('Make the report')" @click="$emit('send', { type: 'report' })"/>
      <a v-if="report" :href="inLanguage(report)" target="_blank" rel="noopener">{{ t('Open the report') }}</a>
    </div>`,
  data() {
    return { repetitions: this.trial?.repetitions ?? 10 };
  },
  computed: {
    running() {
      return this.trial !== null && !this.trial.over;
    },
    /** Gates of the repetition: number, time, and time behind the ghost's fastest repetition. */
    splits() {
      const { splits = [], ghost_splits: ghost = [] } = this.trial ?? {};
      return splits.map((time, i) => [i + 1, `${number(time, 1)} s`, i < ghost.length ? signed(time - ghost[i]) : ""]);
    },
    events() {
      return [...(this.trial?.events ?? [])].reverse();
    },
    ghosts() {
      return [{ label: t("none"), value: null }, ...this.recordings];
    },
  },
  methods: {
    inLanguage,
    number,
    t,
    told,
    ask(action) {
      this.$emit("send", { type: "trial", action, repetitions: this.repetitions });
    },
    percent: (fraction) => (fraction === null ? "–" : `${Math.round(100 * fraction)} %`),
  },
};

const signed = (time) => `${time < 0 ? "−" : "+"}${number(Math.abs(time), 1)} s`;
