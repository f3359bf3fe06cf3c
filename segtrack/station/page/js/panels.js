/** The panels beside the picture: what is driven, the trial, the clients, recordings, keys. */

const SELECT = `dense outlined options-dense emit-value map-options behavior="menu"`;
const NUMBER = `dense outlined type="number" step="any"`;
const RIGID = { label: "rigid ground", value: null };
const OWN = { label: "the course's own", value: null };

const numberOr = (value, fallback) => (value === "" || value === null ? fallback : Number(value));

export const SetupPanel = {
  props: { options: Object, setup: Object, mayChange: Boolean },
  emits: ["send"],
  template: `
    <q-form class="st-form" @submit="apply">
      <q-select ${SELECT} v-model="form.vehicle" :options="options.vehicles" label="Vehicle"/>
      <q-select ${SELECT} v-model="form.track_model" :options="options.track_models" label="Track model"/>
      <q-select ${SELECT} v-model="form.engine" :options="options.engines" label="Engine"/>
      <q-select ${SELECT} v-model="form.course" :options="courses" label="Course" @update:model-value="form.setting = null"/>
      <q-select v-if="settings.length > 1" ${SELECT} v-model="form.setting" :options="settings" :label="settingLabel"/>
      <div class="st-pair">
        <q-input ${NUMBER} v-model="form.friction" label="Friction [-]" placeholder="course's" min="0" max="10"/>
        <q-input ${NUMBER} v-model="form.payload" label="Payload [kg]" min="0"/>
      </div>
      <q-select ${SELECT} v-model="form.soil" :options="soils" label="Soil"/>
      <div class="st-pair">
        <q-select ${SELECT} v-model="form.time_step" :options="steps" label="Time step"/>
        <q-input ${NUMBER} v-model="form.seed" label="Seed" min="0" step="1"/>
      </div>
      <q-btn type="submit" unelevated no-caps color="primary" label="Apply" :disable="!mayChange"/>
      <p v-if="!mayChange" class="st-hint">The driver and the instructor choose.</p>
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
      return [OWN, ...values];
    },
    settingLabel() {
      return this.course?.setting_name ?? "Setting";
    },
    soils() {
      return [RIGID, ...this.options.soils.map((soil) => ({ label: soil, value: soil }))];
    },
  },
  methods: {
    apply() {
      const { form } = this;
      const numbers = { friction: numberOr(form.friction, null), payload: numberOr(form.payload, 0) };
      const seed = Math.trunc(numberOr(form.seed, 0));
      this.$emit("send", { type: "configure", setup: { ...form, ...numbers, seed } });
    },
  },
};

export const TrialPanel = {
  props: { trial: Object, mayChange: Boolean, instructor: Boolean, recordings: Array, ghost: String, report: String },
  emits: ["send"],
  template: `
    <div class="st-form">
      <q-input dense outlined v-model="operator" label="Operator" maxlength="40" :disable="running"/>
      <q-select ${SELECT} v-model="repetitions" :options="[10, 20, 30]" label="Repetitions" :disable="running"/>
      <div class="st-buttons">
        <q-btn unelevated no-caps color="primary" label="Begin" :disable="!mayChange || running" @click="ask('begin')"/>
        <q-btn outline no-caps label="Help was given" :disable="!mayChange || !running" @click="ask('help')"/>
        <q-btn outline no-caps label="Raise setting" :disable="!mayChange" @click="ask('raise')"/>
        <q-btn outline no-caps label="Abandon" :disable="!mayChange || !running" @click="ask('abandon')"/>
        <q-btn v-if="instructor" outline no-caps label="Make this operator the expert" @click="ask('expert')"/>
      </div>
      <dl v-if="trial" class="st-facts">
        <div><dt>completed</dt><dd>{{ trial.done }} of {{ trial.repetitions }}</dd></div>
        <div><dt>failures</dt><dd>{{ trial.failures }}</dd></div>
        <div v-if="trial.void"><dt>void: too slow</dt><dd>{{ trial.void }}</dd></div>
        <div><dt>rate</dt><dd>{{ trial.rate === null ? "–" : trial.rate.toFixed(2) + " " + trial.unit }}</dd></div>
        <div><dt>against the expert</dt><dd>{{ percent(trial.expert_fraction) }}</dd></div>
        <div><dt>confidence</dt><dd>{{ percent(trial.confidence) }}</dd></div>
        <div v-if="trial.over"><dt>result</dt><dd>{{ trial.passed ? "passed" : "not passed" }}</dd></div>
      </dl>
      <table v-if="events.length" class="st-events"><thead><tr><th>time</th><th>what happened</th></tr></thead>
        <tbody><tr v-for="(event, i) in events" :key="i"><td>{{ event.clock.toFixed(1) }} s</td>
          <td>{{ event.text }}</td></tr></tbody></table>
      <p v-else class="st-hint">Faults and completed repetitions are listed here.</p>
      <q-select ${SELECT} :model-value="ghost" :options="ghosts" label="Ghost: a recorded run"
        :disable="!mayChange" @update:model-value="(recording) => $emit('send', { type: 'ghost', recording })"/>
      <q-btn outline no-caps label="Make the report" @click="$emit('send', { type: 'report' })"/>
      <a v-if="report" :href="report" target="_blank" rel="noopener">Open the report</a>
    </div>`,
  data() {
    return { operator: this.trial?.operator ?? "operator", repetitions: this.trial?.repetitions ?? 10 };
  },
  computed: {
    running() {
      return this.trial !== null && !this.trial.over;
    },
    events() {
      return [...(this.trial?.events ?? [])].reverse();
    },
    ghosts() {
      return [{ label: "none", value: null }, ...this.recordings];
    },
  },
  methods: {
    ask(action) {
      const { operator, repetitions } = this;
      this.$emit("send", { type: "trial", action, operator: operator.trim() || "operator", repetitions });
    },
    percent: (fraction) => (fraction === null ? "–" : `${Math.round(100 * fraction)} %`),
  },
};

const LINK = [
  ["delay", "delay [ms]", 1000],
  ["jitter", "jitter [ms]", 1000],
  ["loss", "loss [%]", 100],
  ["rate", "rate [1/s]", 1],
];
const WAYS = { video: "pictures", command: "commands" };
const CLEAR = { delay: 0, jitter: 0, loss: 0, rate: 100 };

export const InstructorPanel = {
  props: { status: Object, client: Number, instructor: Boolean, name: String },
  emits: ["send", "role", "name"],
  template: `
    <div class="st-form">
      <q-input dense outlined :model-value="name" label="Your name" maxlength="40" debounce="600"
        @update:model-value="(name) => name.trim() && $emit('name', name.trim())"/>
      <table class="st-events"><thead><tr><th>client</th><th>role</th><th></th></tr></thead><tbody>
        <tr v-for="other in status.clients" :key="other.id">
          <td>{{ other.name }}{{ other.id === client ? " (you)" : "" }}</td>
          <td>{{ other.id === status.driver ? "drives" : other.role }}</td>
          <td><q-btn v-if="mayGive && other.id !== status.driver" outline no-caps padding="4px 10px" label="Give"
            @click="ask('give', other.id)"/></td>
        </tr></tbody></table>
      <div class="st-buttons">
        <q-btn unelevated no-caps color="primary" label="Take over" :disable="!instructor || drives" @click="ask('take')"/>
        <q-btn v-if="instructor" outline no-caps label="Give back" @click="ask('give')"/>
        <q-btn outline no-caps label="Release the seat" :disable="!drives" @click="ask('release')"/>
        <q-btn v-if="!instructor" outline no-caps label="Come in as instructor" @click="$emit('role', 'instructor')"/>
      </div>
      <template v-if="instructor">
        <h3>Degraded link</h3>
        <q-select ${SELECT} v-model="of" :options="others" label="Client"/>
        <table class="st-link"><thead><tr><th></th><th v-for="word in ways" :key="word">{{ word }}</th></tr></thead><tbody>
          <tr v-for="[name, label] in rows" :key="name"><th>{{ label }}</th>
            <td v-for="(word, way) in ways" :key="way"><input type="number" min="0" step="any"
              v-model.number="form[way][name]" :aria-label="word + ' ' + label"></td></tr></tbody></table>
        <div class="st-buttons">
          <q-btn unelevated no-caps color="primary" label="Degrade" :disable="of === null" @click="degrade(form)"/>
          <q-btn outline no-caps label="Clear" :disable="of === null" @click="clear"/>
        </div>
        <p v-if="now" class="st-hint">{{ now }}</p>
      </template>
    </div>`,
  data: () => ({
    of: null,
    rows: LINK,
    ways: WAYS,
    form: { video: { ...CLEAR }, command: { ...CLEAR } },
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
    /** The chosen client's link in words, as far as it is not perfect. */
    now() {
      const link = this.status.links?.[this.of];
      if (!link) return "";
      const words = Object.entries(WAYS).flatMap(([way, word]) =>
        LINK.filter(([name]) => link[way][name] !== CLEAR[name]).map(
          ([name, label, unit]) => `${word}: ${label.replace("[", `${+(unit * link[way][name]).toFixed(3)} `).replace("]", "")}`,
        ),
      );
      return `Now ${words.join(", ")}.`;
    },
  },
  methods: {
    ask(action, to = null) {
      this.$emit("send", { type: "request", action, to });
    },
    degrade(form) {
      const inUnits = (way) => Object.fromEntries(LINK.map(([name, , unit]) => [name, numberOr(form[way][name], 0) / unit]));
      const seed = this.status.setup?.seed ?? 0;
      this.$emit("send", { type: "link", client: this.of, video: inUnits("video"), command: inUnits("command"), seed });
    },
    clear() {
      this.form = { video: { ...CLEAR }, command: { ...CLEAR } };
      this.degrade(this.form);
    },
  },
};

export const ReplayPanel = {
  props: { recordings: Array, replay: Object, mayChange: Boolean },
  emits: ["send"],
  template: `
    <div class="st-form">
      <q-select ${SELECT} v-model="recording" :options="recordings" label="Recording"/>
      <div class="st-buttons">
        <q-btn unelevated no-caps color="primary" label="Open" :disable="!recording || !mayChange" @click="ask('open')"/>
        <q-btn outline no-caps label="Close" :disable="!replay" @click="ask('close')"/>
      </div>
      <template v-if="replay">
        <h3>{{ replay.name }}</h3>
        <q-slider :model-value="time" :min="0" :max="replay.duration" :step="0.01" label :label-value="time.toFixed(2) + ' s'"
          aria-label="time" @update:model-value="scrub" @change="scrubbed = null"/>
        <p class="st-hint">{{ time.toFixed(1) }} s of {{ replay.duration.toFixed(1) }} s</p>
        <div class="st-buttons">
          <q-btn v-if="replay.playing" unelevated no-caps color="primary" label="Pause" @click="ask('pause')"/>
          <q-btn v-else unelevated no-caps color="primary" label="Play" @click="ask('play')"/>
          <q-select class="st-speed" ${SELECT} v-model="speed" :options="speeds" label="Speed" @update:model-value="replay.playing && ask('play')"/>
        </div>
      </template>
      <p v-else-if="!recordings.length" class="st-hint">A run is listed here once it was stopped.</p>
    </div>`,
  data() {
    const speeds = [0.1, 0.25, 0.5, 1, 2, 5, 10].map((value) => ({ label: `${value} ×`, value }));
    return { recording: this.replay?.name ?? null, speed: this.replay?.speed ?? 1, speeds, scrubbed: null };
  },
  computed: {
    time() {
      return Math.min(this.scrubbed ?? this.replay.time, this.replay.duration);
    },
  },
  methods: {
    ask(action, time = null) {
      const { recording, speed } = this;
      this.$emit("send", { type: "replay", action, recording, time, speed });
    },
    scrub(time) {
      this.scrubbed = time;
      this.ask("seek", time);
    },
  },
};

export const HelpPanel = {
  props: { bindings: Array },
  template: `
    <div class="st-form">
      <p class="st-hint">Keys act only outside text fields and lists: click the picture to drive on.</p>
      <template v-for="device in devices" :key="device">
        <h3>{{ device }}</h3>
        <dl class="st-keys"><div v-for="row in bindings.filter((row) => row.device === device)" :key="row.inputs + row.action">
          <dt>{{ row.inputs }}</dt><dd>{{ row.action }}</dd></div></dl>
      </template>
    </div>`,
  computed: {
    devices() {
      return [...new Set(this.bindings.map(({ device }) => device))];
    },
  },
};
