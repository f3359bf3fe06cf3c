/** The panel of keys, buttons and sticks. */

import { SOUND_KEY } from "../inputs.js";
import { labelOf } from "../keyboard.js";
import { nameOf, t } from "../language.js";
import { PTZ_INPUTS } from "../ptz.js";
import { PadPanel } from "./padmap.js";

export const HelpPanel = {
  components: { PadPanel },
  props: { bindings: Array, pad: Object },
  template: `
    <div class="st-form">
      <p class="st-hint">{{ t('Keys act only outside text fields and lists: click the picture to drive on.') }}</p>
      <template v-for="device in devices" :key="device">
        <h3>{{ t(device) }}</h3>
        <dl class="st-keys"><div v-for="row in rows.filter((row) => row.device === device)" :key="row.inputs + row.action">
          <dt>{{ row.inputs.map(device === 'keyboard' ? labelOf : nameOf).join(', ') }}</dt><dd>{{ t(row.action) }}</dd></div></dl>
      </template>
      <p class="st-hint">{{ t('The pan-tilt-zoom camera also follows a finger or the mouse on its picture and the wheel, and on a gamepad the D-pad, X, Y and pressed sticks.') }}</p>
      <pad-panel v-if="pad" :pad="pad"/>
    </div>`,
  methods: { labelOf, nameOf, t },
  computed: {
    rows() {
      const camera = PTZ_INPUTS.map(({ key, action }) => ({ device: "keyboard", inputs: [key], action }));
      return [...this.bindings, ...camera, { device: "keyboard", inputs: [SOUND_KEY], action: "sound and rumble on or off" }];
    },
    devices() {
      return [...new Set(this.bindings.map(({ device }) => device))];
    },
  },
};
