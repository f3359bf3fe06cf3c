/** The panel of exercises: what there is, what is passed, and what comes next. */

import { t } from "../language.js";

export const ExercisesPanel = {
  props: { title: String, exercises: Array, mayChange: Boolean, instructor: Boolean, drives: Boolean, begun: String },
  emits: ["send", "lesson"],
  template: `
    <div class="st-form">
      <h3>{{ title }}</h3>
      <ol class="st-exercises"><li v-for="exercise in exercises" :key="exercise.name"
        :class="{ 'st-passed': exercise.passed, 'st-current': exercise.name === begun }">
        <strong>{{ exercise.title }}</strong>
        <span>{{ stateOf(exercise) }}</span>
        <span class="st-hint">{{ needs(exercise) }}</span>
        <div v-if="exercise.open || instructor" class="st-buttons">
          <q-btn outline no-caps :label="t('Practise')" :disable="!mayChange" @click="ask('practise', exercise)"/>
          <q-btn unelevated no-caps color="primary" :label="t('Begin')" :disable="!mayChange"
            @click="exercise.lesson && drives ? $emit('lesson', exercise) : ask('begin', exercise)"/>
        </div></li></ol>
      <p v-if="!mayChange" class="st-hint">{{ t('The driver and the instructor choose.') }}</p>
    </div>`,
  methods: {
    t,
    ask(action, { name }) {
      this.$emit("send", { type: "exercise", action, exercise: name });
    },
    stateOf({ passed, open, tries }) {
      if (passed) return `✓ ${t("passed")}`;
      if (!open) return t("closed until those before are passed");
      return tries ? t("not yet passed, {tries} tried", { tries }) : t("open");
    },
    needs({ complete, failures, rate, unit }) {
      const words = t("to complete: {complete}, may fail: {failures}", { complete, failures });
      return rate === null ? words : `${words}, ${t("at least {rate} {unit}", { rate, unit })}`;
    },
  },
};
