/** A touch stick: a knob that follows one finger, and goes back when it is lifted. */

export const TouchStick = {
  props: { label: String },
  emits: ["move"],
  template: `
    <div class="st-stick" :aria-label="label" role="application" @pointerdown.prevent="down" @pointermove="move"
      @pointerup="up" @pointercancel="up" @lostpointercapture="up" @contextmenu.prevent>
      <div class="st-knob" ref="knob"></div><span>{{ label }}</span>
    </div>`,
  data: () => ({ finger: null }),
  methods: {
    down(event) {
      this.finger = event.pointerId;
      this.$el.setPointerCapture(event.pointerId);
      this.move(event);
    },
    move(event) {
      if (event.pointerId !== this.finger) return;
      const { left, top, width, height } = this.$el.getBoundingClientRect();
      const x = (2 * (event.clientX - left)) / width - 1;
      const y = (2 * (event.clientY - top)) / height - 1;
      const beyond = Math.max(1, Math.hypot(x, y));
      this.set(x / beyond, y / beyond, true);
    },
    up(event) {
      if (event.pointerId !== this.finger) return;
      this.finger = null;
      this.set(0, 0, false);
    },
    set(x, y, held) {
      this.$refs.knob.style.transform = `translate(${50 * x}%, ${50 * y}%)`;
      this.$emit("move", x, y, held);
    },
  },
};
