/** A large card over the picture: how a trial ended, or what a fault was and how to go on. */

import { nameOf, number, t } from "../language.js";

const LEAD = 3; // Time before a fault from which on it is shown [s]

/** What a trial has to say now; null for nothing. */
export function newsOf(trial) {
  if (!trial) return null;
  if (trial.over) return { kind: trial.passed ? "good" : "stop", key: `${trial.recording} over` };
  if (trial.paused) return { kind: "stop", key: `${trial.recording} ${trial.failures} ${trial.void} fault` };
  return null;
}

export const TrialCard = {
  props: { trial: Object, me: String, next: Object, mayRun: Boolean, drives: Boolean },
  emits: ["send", "reset", "close", "next"],
  template: `
    <div class="st-result st-card" :class="'st-' + kind" role="alert">
      <h2>{{ title }}</h2>
      <p v-if="trial.operator !== me">{{ t('Operator: {name}', { name: trial.operator }) }}</p>
      <p v-if="detail">{{ detail }}</p>
      <div class="st-buttons">
        <q-btn v-if="!trial.over" unelevated no-caps color="white" text-color="black" :label="t('Back to the start')"
          :disable="!mayRun" @click="$emit('reset')"/>
        <q-btn v-if="trial.moment !== null && trial.failures + trial.void > 0" outline no-caps :label="t('Look at it again')"
          :disable="!mayRun" @click="lookAgain"/>
        <q-btn v-if="trial.over && trial.passed && next" unelevated no-caps color="white" text-color="black"
          :label="t('Next: {title}', { title: next.title })" :disable="!mayRun" @click="$emit('next', next)"/>
        <q-btn outline no-caps :label="t('Close')" @click="$emit('close')"/>
      </div>
    </div>`,
  computed: {
    kind() {
      return newsOf(this.trial)?.kind ?? "stop";
    },
    title() {
      const { over, passed, paused, exercise, events } = this.trial;
      if (!over) return t("Fault: {fault}", { fault: nameOf(paused) });
      if (events.at(-1)?.text === "abandoned") return t("Trial abandoned");
      if (exercise) return passed ? t("Exercise passed") : t("Exercise not passed");
      return passed ? t("Trial passed") : t("Trial not passed");
    },
    detail() {
      const { over, done, failures, rate, unit } = this.trial;
      if (!over) return t("The clock stands. Go back to the start to go on.");
      const words = t("{done} completed, {failures} failed", { done, failures });
      return rate === null ? words : `${words}, ${number(rate, 2)} ${unit}`;
    },
  },
  methods: {
    t,
    lookAgain() {
      const { recording, moment } = this.trial;
      this.$emit("send", { type: "replay", action: "open", recording, time: Math.max(0, moment - LEAD), speed: 1 });
    },
  },
};
