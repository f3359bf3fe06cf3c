/** The panel of what is driven, and where. */

import { t } from "../language.js";
import { NUMBER, SELECT, numberOr } from "./fields.js";

export const SetupPanel = {
  props: { options: Object, setup: Object, mayChange: Boolean },
  emits: ["send"],
  template: `
    <q-form class="st-form" @submit="apply">
      <q-select ${SELECT} v-model="form.vehicle" :options="options.vehicles" :label="t('Vehicle')"/>
      <q-select ${SELECT} v-model="form.track_model" :options="options.track_models" :label="t('Track model')"/>
      <q-select ${SELECT} v-model="form.engine" :options="options.engines" :label="t('Engine')"/>
      <q-select ${SELECT} v-model="form.course" :options="courses" :label="t('Course')" @update:model-value="form.setting = null"/>
      <q-select v-if="settings.length > 1" ${SELECT} v-model="form.setting" :options="settings" :label="settingLabel"/>
      <div class="st-pair">
        <q-input ${NUMBER} v-model="form.friction" :label="t('Friction [-]')" :placeholder="t('of the course')" min="0" max="10"/>
        <q-input ${NUMBER} v-model="form.payload" :label="t('Payload [kg]')" min="0"/>
      </div>
      <q-select ${SELECT} v-model="form.soil" :options="soils" :label="t('Soil')"/>
      <q-select ${SELECT} v-model="form.cameras" :options="cameras" :label="t('Cameras')"/>
      <div class="st-pair">
        <q-select ${SELECT} v-model="form.light" :options="lights" :label="t('Lighting')"/>
        <q-input ${NUMBER} v-model="form.visibility" :label="t('Visibility [m]')" :placeholder="t('no smoke')" min="0.1" max="10000"/>
      </div>
      <div class="st-pair">
        <q-select ${SELECT} v-model="form.time_step" :options="steps" :label="t('Time step')"/>
        <q-input ${NUMBER} v-model="form.seed" :label="t('Seed')" min="0" step="1"/>
      </div>
      <q-btn type="submit" unelevated no-caps color="primary" :label="t('Apply')" :disable="!mayChange"/>
      <p v-if="!mayChange" class="st-hint">{{ t('The driver and the instructor choose.') }}</p>
    </q-form>`,
  data() {
    return { form: { ...this.setup }, steps: [1, 2].map((ms) => ({ label: `${ms} ms`, value: ms / 1000 })) };
  },
  watch: {
    setup(setup, before) {
      if (JSON.stringify(setup) !== JSON.stringify(before)) this.form = { ...setup };
    },
  },
  computed: {
    courses() {
      return this.options.courses.map(({ name, title }) => ({ label: title, value: name }));
    },
    course() {
      return this.options.courses.find(({ name }) => name === this.form.course);
    },
    settings() {
      const unit = this.course?.unit ?? "";
      const values = (this.course?.settings ?? []).map((value) => ({ label: `${value} ${unit}`, value }));
      return [{ label: t("of the course"), value: null }, ...values];
    },
    settingLabel() {
      return this.course?.setting_name ?? t("Setting");
    },
    cameras() {
      return [{ label: t("any view"), value: null }, { label: t("the vehicle's own"), value: "real" }];
    },
    lights() {
      return [{ label: t("daylight"), value: null }, { label: t("dark, own lamps"), value: "dark" }];
    },
    soils() {
      return [{ label: t("rigid ground"), value: null }, ...this.options.soils.map((soil) => ({ label: soil, value: soil }))];
    },
  },
  methods: {
    t,
    apply() {
      const { form } = this;
      const numbers = { friction: numberOr(form.friction, null), payload: numberOr(form.payload, 0), visibility: numberOr(form.visibility, null) };
      const seed = Math.trunc(numberOr(form.seed, 0));
      this.$emit("send", { type: "configure", setup: { ...form, ...numbers, seed } });
    },
  },
};
