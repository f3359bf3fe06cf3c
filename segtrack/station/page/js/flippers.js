/** A plan of the vehicle from above, on which each flipper is chosen by touch for the stick that moves it. */

import { nameOf, t } from "./language.js";

export const FlipperPlan = {
  props: { flippers: Array },
  emits: ["choose"],
  template: `
    <div class="st-plan" role="group" :aria-label="t('flippers that the stick moves')">
      <button v-for="{ name, row, side } in places" :key="name" type="button" :aria-pressed="chosen.includes(name)"
        :aria-label="nameOf(name)" :style="{ gridRow: row, gridColumn: side }" :class="{ 'st-chosen': chosen.includes(name) }"
        @click="choose(name)"></button>
      <span class="st-hull"></span>
    </div>`,
  data: () => ({ chosen: [] }),
  computed: {
    /** Where each is: front or rear, left, right or both, by its name. */
    places() {
      return this.flippers.map((name) => ({
        name,
        row: name.includes("rear") ? 3 : 1,
        side: name.includes("left") ? "1" : name.includes("right") ? "3" : "1 / 4",
      }));
    },
  },
  methods: {
    t,
    nameOf,
    choose(name) {
      const { chosen } = this;
      this.chosen = chosen.includes(name) ? chosen.filter((other) => other !== name) : [...chosen, name];
      this.$emit("choose", this.chosen);
    },
  },
};
