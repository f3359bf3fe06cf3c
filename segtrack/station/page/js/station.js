/** The operator's page: connection, inputs, picture, instruments and panels in one component. */

import { bannerOf } from "segtrack-station/banner.js";
import { ON_BOARD, VIEWS } from "segtrack-station/cameras.js";
import { FlipperPlan } from "segtrack-station/flippers.js";
import { HUD, Hud } from "segtrack-station/hud.js";
import { Inputs } from "segtrack-station/inputs.js";
import { learnLayout } from "segtrack-station/keyboard.js";
import { LANGUAGES, beginLanguage, chooseLanguage, language, t, told } from "segtrack-station/language.js";
import { Lesson } from "segtrack-station/lesson.js";
import { TrialCard, newsOf } from "segtrack-station/panels/card.js";
import { EntryDialog } from "segtrack-station/panels/entry.js";
import { ExercisesPanel } from "segtrack-station/panels/exercises.js";
import { placeMenu } from "segtrack-station/panels/fields.js";
import { HelpPanel } from "segtrack-station/panels/keys.js";
import { LessonCard } from "segtrack-station/panels/lesson.js";
import { InstructorPanel } from "segtrack-station/panels/people.js";
import { ReplayPanel } from "segtrack-station/panels/replay.js";
import { SetupPanel } from "segtrack-station/panels/setup.js";
import { TrialPanel } from "segtrack-station/panels/trial.js";
import { Connection } from "segtrack-station/socket.js";
import { FLAG } from "segtrack-station/state.js";
import { Sound } from "segtrack-station/sound.js";
import { TouchStick } from "segtrack-station/sticks.js";
import { CLEAR, View } from "segtrack-station/view.js";

const TABS = { setup: "Setup", exercises: "Exercises", trial: "Trial", people: "People", replay: "Replay", keys: "Keys" };
const NAMES = { chase: "Chase", front: "Front", rear: "Rear", ptz: "Pan-tilt-zoom", overhead: "Overhead", free: "Free" };
const ROLES = ["driver", "instructor", "onlooker"];
const NARROW = "(max-width: 1000px)";
const LONGEST_DELAY = 60000; // A longer one is told as this [ms]
const ONCE = ["run", "trial", "exercise", "configure"]; // Kinds of messages that a double click sends once
const DOUBLE_CLICK = 500; // [ms]
const NO_LOADS = 1000; // Time without contact loads after which that is told [ms]
const VOID = "This repetition does not count: the simulation was slower than real time. It is run again.";
const kept = (name, fallback) => localStorage.getItem(`segtrack-${name}`) ?? fallback;
const keep = (name, value) => localStorage.setItem(`segtrack-${name}`, value);

export default {
  components: {
    EntryDialog, ExercisesPanel, FlipperPlan, HelpPanel, InstructorPanel, LessonCard, ReplayPanel, SetupPanel, TouchStick, TrialCard,
    TrialPanel,
  },
  props: { bindings: Array, words: Object },
  template: `
    <div class="st-station" :class="{ 'st-dark': dark, 'st-panel-open': panel }">
      <header class="st-top">
        <div class="st-banner" :class="'st-' + banner.kind" role="status" aria-live="polite">
          <strong>{{ banner.title }}</strong><span>{{ banner.detail }}</span></div>
        <nav class="st-tools">
          <q-btn v-if="mayTake" unelevated no-caps color="primary" :label="t('Drive')" @click="takeSeat"/>
          <q-btn v-if="run === 'running'" outline no-caps icon="pause" :label="t('Pause')" :disable="!mayPause" @click="ask('pause')"/>
          <q-btn v-else unelevated no-caps color="primary" icon="play_arrow" :label="t('Start')" :disable="!mayRun" @click="ask('start')"/>
          <q-btn outline no-caps icon="stop" :label="t('Stop')" :title="t('End the run; its recording is then listed')"
            :disable="!mayEnd || !['running', 'paused'].includes(run)" @click="ask('stop')"/>
          <q-btn outline no-caps icon="replay" :label="t('Reset')" :disable="!mayRun" @click="ask('reset')"/>
          <q-select dense outlined options-dense emit-value map-options behavior="menu" class="st-view" :label="t('View')"
            :model-value="shown.main" :options="views" @update:model-value="(view) => (main = view)"/>
          <q-select dense outlined options-dense emit-value map-options behavior="menu" class="st-view" :label="t('Inset')"
            :model-value="shown.inset" :options="insets" @update:model-value="(view) => (inset = view)"/>
          <q-btn :outline="!contacts" :unelevated="contacts" :color="contacts ? 'primary' : undefined" no-caps
            :label="t('Loads')" :title="t('Contact loads as arrows')" @click="contacts = !contacts"/>
          <q-btn flat round :icon="dark ? 'light_mode' : 'dark_mode'" :aria-label="t(dark ? 'Light' : 'Dark')"
            @click="setDark(!dark)"/>
          <q-btn flat round :icon="sounds ? 'volume_up' : 'volume_off'" :aria-label="t('Sound and rumble')" :aria-pressed="sounds"
            @click="toggleSound"/>
          <q-btn flat round icon="translate" :aria-label="t('Language')"><q-menu no-refocus><q-list dense>
            <q-item v-for="(name, code) in languages" :key="code" clickable v-close-popup :active="code === language()"
              :lang="code" @click="chooseLanguage(code)"><q-item-section>{{ name }}</q-item-section></q-item>
          </q-list></q-menu></q-btn>
          <q-btn flat round icon="touch_app" :aria-label="t('Touch sticks')" @click="touch = !touch"/>
          <q-btn flat round :icon="panel ? 'chevron_right' : 'menu'" :aria-label="t('Panels')" @click="panel = !panel"/>
        </nav>
        <button class="st-estop" :disabled="role === 'onlooker'" @click="stop(true)">{{ t('E-STOP') }}</button>
      </header>
      <section class="st-notes">
        <button v-if="mayRun && stopped" class="st-release" @click="stop(false)">{{ t('Release stop') }}</button>
        <q-btn v-if="mayRun && status.replay" unelevated no-caps color="primary" icon="undo" :label="t('End the replay')"
          @click="send({ type: 'replay', action: 'close' })"/>
        <lesson-card v-if="lesson && drives" :step="lesson.step" :number="lesson.number" :count="lesson.steps.length" :device="device"
          :bindings="bindings" :trial-on="trialOn" :voids="trialOn && myTrial ? myTrial.void : 0" :may-run="mayRun"
          @start="ask('start')" @leave="lesson = null" @begin="exercise('begin', lesson.exercise)" @skip="lesson.skip()"/>
      </section>
      <main class="st-scene">
        <canvas ref="canvas"></canvas>
        <div class="st-inset" v-show="shown.inset" ref="frame"><span>{{ shown.inset && t(names[shown.inset]) }}</span></div>
        <div v-if="contacts && legend" class="st-legend">{{ legend }}</div>
        <div class="st-title">{{ title }}</div>
        <template v-if="touch">
          <touch-stick class="st-stick-left" :label="t('drive')" @move="(x, y, held) => stick(0, x, y, held)"/>
          <touch-stick class="st-stick-right" :label="t('flippers')" @move="(x, y, held) => stick(1, x, y, held)"/>
          <flipper-plan v-if="flippers.length > 1" :key="flippers.join()" :flippers="flippers" @choose="(names) => (inputs.flippers = names)"/>
        </template>
        <div v-if="aim !== null" class="st-aim" role="img" :aria-label="t('The next gate is this way')" :style="aimStyle"></div>
        <trial-card v-if="news" :trial="myTrial" :me="me" :next="nextExercise" :may-run="mayRun" @send="send" @reset="goOn"
          @close="closed = news.key" @next="(next) => exercise('begin', next)"/>
        <div v-else-if="invited" class="st-result st-card st-look" role="status">
          <h2>{{ t('New here?') }}</h2><p>{{ t('The first lesson explains the controls, in three minutes.') }}</p>
          <div class="st-buttons">
            <q-btn unelevated no-caps color="white" text-color="black" :label="t('Begin the first lesson')" @click="teach(invited)"/>
            <q-btn outline no-caps :label="t('Not now')" @click="uninvited = true"/></div></div>
        <div v-if="said" class="st-said" :class="{ 'st-stop': refused }" role="alert">{{ told(said) }}</div>
        <div v-else-if="status && status.opening !== null" class="st-said">
          {{ t('Opening the recording: {share} %', { share: Math.round(100 * status.opening) }) }}</div>
        <div v-if="unseen" class="st-said st-stop st-unseen" role="status">{{ t('The link has brought no picture yet') }}</div>
      </main>
      ${HUD}
      <aside v-if="panel && status" class="st-panel">
        <q-tabs v-model="tab" dense no-caps narrow-indicator>
          <q-tab v-for="(label, name) in tabs" :key="name" :name="name" :label="t(label)"/></q-tabs>
        <setup-panel v-if="tab === 'setup'" :options="options" :setup="status.setup ?? {}" :may-change="mayRun" @send="send"/>
        <exercises-panel v-if="tab === 'exercises'" :title="status.syllabus" :exercises="status.exercises" :may-change="mayRun"
          :instructor="instructor" :drives="drives" :begun="trialOn ? status.trial.exercise : null" @send="send" @lesson="teach"/>
        <trial-panel v-if="tab === 'trial'" :trial="status.trial" :may-change="mayRun" :instructor="instructor"
          :recordings="status.recordings" :ghost="status.ghost" :report="report" :operator="driverName" @send="send"/>
        <instructor-panel v-if="tab === 'people'" :status="status" :client="client" :instructor="instructor" :name="name"
          @send="send" @role="comeAs" @name="callMe"/>
        <replay-panel v-if="tab === 'replay'" :recordings="status.recordings" :replay="status.replay"
          :may-change="mayRun" :instructor="instructor" @send="send"/>
        <help-panel v-if="tab === 'keys'" :bindings="bindings" :pad="rawPad()"/>
      </aside>
      <entry-dialog v-if="entering" :kept="name" :role="role" :refused="turnedAway" @enter="enter"/>
    </div>`,

  data() {
    const narrow = matchMedia(NARROW).matches;
    const query = new URLSearchParams(location.search);
    return {
      names: NAMES,
      languages: LANGUAGES,
      tabs: TABS,
      main: kept("view", "chase"),
      inset: kept("inset", "") || null,
      seeing: CLEAR,
      contacts: false,
      dark: false,
      touch: matchMedia("(pointer: coarse)").matches,
      panel: !narrow,
      tab: "setup",
      role: ROLES.find((role) => role === query.get("role")) ?? kept("role", "driver"),
      name: query.get("name") ?? kept("name", ""),
      entering: !query.get("name") && !kept("name", ""),
      turnedAway: "",
      lesson: null,
      uninvited: false,
      closed: "",
      client: null,
      options: null,
      status: null,
      flags: 0,
      connection: "connecting",
      reasons: { hidden: false, blurred: false, padLost: false, pad: "" },
      title: "",
      flippers: [],
      sounds: true,
      said: "",
      refused: false,
      report: null,
      legend: "",
      aim: null,
      blind: false,
      unseen: false,
    };
  },

  computed: {
    banner() {
      return bannerOf(this);
    },
    run() {
      return this.status?.run;
    },
    stopped() {
      return (this.flags & FLAG.eStop) !== 0;
    },
    drives() {
      return this.connection === "open" && this.status !== null && this.status.driver === this.client;
    },
    /** Whether the client may choose, start, reset and release: the driver and instructors. */
    mayRun() {
      return this.connection === "open" && this.status !== null && this.status.role !== "onlooker";
    },
    instructor() {
      return this.status?.clients.some(({ id, role }) => id === this.client && role === "instructor") ?? false;
    },
    /** Whether the client may interrupt what runs: of a trial, instructors alone. */
    mayEnd() {
      return this.mayRun && (!this.trialOn || this.instructor);
    },
    /** Whether the client may pause: anyone who commands, while a fault holds the clock of a trial. */
    mayPause() {
      return this.mayEnd || (this.mayRun && Boolean(this.status.trial.paused));
    },
    mayTake() {
      return this.connection === "open" && this.status?.driver === null && this.role !== "onlooker";
    },
    driverName() {
      return this.status.clients.find(({ id }) => id === this.status.driver)?.name ?? "";
    },
    /** The name under which the station knows the person. */
    me() {
      return this.status?.clients.find(({ id }) => id === this.client)?.name ?? "";
    },
    /** The trial that is the person's own; of instructors anyone's. */
    myTrial() {
      const trial = this.status?.trial ?? null;
      return trial && (this.instructor || trial.operator === this.me) ? trial : null;
    },
    /** Where the arrow to the next gate stands, near the edge of the picture. */
    aimStyle() {
      const [right, up] = [Math.sin(this.aim), Math.cos(this.aim)];
      return { left: `${50 + 44 * right}%`, top: `${50 - 40 * up}%`, transform: `translate(-50%, -50%) rotate(${this.aim}rad)` };
    },
    trialOn() {
      return this.status?.trial ? !this.status.trial.over : false;
    },
    /** What a large card says, until it is closed or the picture is a replay. */
    news() {
      const news = this.status?.replay ? null : newsOf(this.myTrial);
      return news && news.key !== this.closed ? news : null;
    },
    covered() {
      return this.news?.key ?? (this.trialOn || this.lesson !== null);
    },
    nextExercise() {
      return this.status.exercises.find(({ passed, open, lesson }) => open && !passed && !lesson) ?? null;
    },
    /** The lesson that the person at the wheel has not had yet, whatever others did before; once it can be built. */
    invited() {
      const first = this.status?.exercises[0];
      const idle = this.drives && !this.lesson && !this.trialOn && this.run !== "compiling";
      return idle && !this.uninvited && first?.lesson && first.tries === 0 ? first : null;
    },
    device() {
      if (this.touch) return "touch";
      return this.reasons.pad ? "gamepad" : "keyboard";
    },
    /** The views that are drawn: of those that were chosen, what there is. */
    shown() {
      const has = (view) => !this.seeing.real || ON_BOARD.includes(view);
      return { main: has(this.main) ? this.main : "front", inset: this.inset && has(this.inset) ? this.inset : null };
    },
    views() {
      return (this.seeing.real ? ON_BOARD : VIEWS).map((view) => ({ label: t(NAMES[view]), value: view }));
    },
    insets() {
      return [{ label: t("none"), value: null }, ...this.views.filter(({ value }) => value !== "free")];
    },
  },

  watch: {
    main: "keepViews",
    inset: "keepViews",
    shown: "showViews",
    seeing(seeing) {
      this.view?.see(seeing);
    },
    contacts(contacts) {
      this.send({ type: "view", contacts });
    },
    drives(drives) {
      this.inputs.activate(drives);
    },
    /** A card is read, and sticks are used, where panels lie over the picture. */
    covered(covered) {
      if (covered && matchMedia(NARROW).matches) this.panel = false;
    },
  },

  created() {
    beginLanguage(this.words);
    learnLayout();
  },

  mounted() {
    this.state = null;
    this.dirty = false;
    this.loaded = performance.now();
    try {
      this.view = new View(this.$refs.canvas, this.redraw);
    } catch {
      Object.assign(this, { blind: true, entering: false }); // Nobody drives what is not seen.
      return;
    }
    this.hud = new Hud(this.$el.querySelector(".st-hud"));
    const mayStop = () => this.role !== "onlooker";
    this.inputs = new Inputs(this.send, (reasons) => (this.reasons = reasons), mayStop, this.toggleSound, this.turnCamera);
    this.sound = new Sound(() => this.inputs.pad.pad);
    this.sounds = this.sound.on;
    document.addEventListener("visibilitychange", this.hush);
    document.addEventListener("transitionend", placeMenu);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const chosen = kept("theme", null);
    this.setDark(chosen === null ? scheme.matches : chosen === "dark", false);
    scheme.onchange = () => kept("theme", null) === null && this.setDark(scheme.matches, false);
    this.showViews();
    const socket = new URL("station/socket", document.baseURI);
    socket.protocol = socket.protocol.replace("http", "ws");
    this.socketLink = socket.href;
    if (!this.entering) this.open();
  },

  beforeUnmount() {
    this.connect?.close();
    document.removeEventListener("visibilitychange", this.hush);
    document.removeEventListener("transitionend", placeMenu);
    this.sound?.close();
    this.inputs?.close();
    this.view?.close();
  },

  methods: {
    t,
    told,
    language,
    chooseLanguage,
    open() {
      this.connect = new Connection(
        this.socketLink,
        () => ({ type: "hello", name: this.name, role: this.role }),
        { message: this.receive, state: this.take, change: this.changed },
      );
    },
    /** Send a message, unless a double click asks for the same again. */
    send(message) {
      if (ONCE.includes(message.type)) {
        const [asked, now] = [JSON.stringify(message), performance.now()];
        const again = asked === this.asked && now - this.askedAt < DOUBLE_CLICK;
        Object.assign(this, { asked, askedAt: now });
        if (again) return;
      }
      this.connect?.send(message);
    },
    /** Come in under a name, with a role; both are kept. */
    enter(name, role) {
      Object.assign(this, { name, role, entering: false, turnedAway: "" });
      this.open();
    },
    exercise(action, { name }) {
      this.closed = newsOf(this.myTrial)?.key ?? "";
      this.send({ type: "exercise", action, exercise: name });
    },
    /** Begin a lesson: what it takes is built, and the steps are shown one after another. */
    teach(exercise) {
      this.lesson = new Lesson(exercise, this.status.trial?.recording);
      this.exercise("practise", exercise);
    },
    /** Go on after a fault, from the start. */
    goOn() {
      this.ask("reset");
      if (this.run !== "running") this.ask("start");
    },
    ask(action) {
      if (action === "start") this.uninvited = true;
      this.send({ type: "run", action });
    },
    takeSeat() {
      this.send({ type: "request", action: "take", to: null });
    },
    stop(on) {
      this.send({ type: "e_stop", on });
    },
    stick(which, x, y, held) {
      this.inputs.setStick(which, x, y, held);
    },
    /** Connect anew as somebody else: driver, instructor or onlooker. */
    comeAs(role) {
      this.role = role;
      this.connect.socket.close();
    },
    /** Connect anew under another name. */
    callMe(name) {
      Object.assign(this, { name, lesson: null, uninvited: false });
      keep("name", name);
      this.connect.socket.close();
    },
    /** The pad as it is, without Vue's proxies. */
    rawPad() {
      return Vue.markRaw(this.inputs.pad);
    },
    toggleSound() {
      this.sounds = this.sound.toggle();
    },
    hush() {
      this.sound.hush();
    },
    changed(connection) {
      if (connection === "connecting") this.welcomed = false;
      if (connection === "lost") this.sound.hush();
      this.connection = connection;
      this.redraw();
    },
    receive(message) {
      if (message.type === "welcome") {
        this.client = message.client;
        this.welcomed = true;
        keep("name", this.name);
        keep("role", this.role);
        this.options = message.options;
        this.send({ type: "view", contacts: this.contacts });
      } else if (message.type === "status") this.setStatus(message);
      else if (message.type === "scene") this.setScene(message);
      else if (message.type === "report") this.report = message.link;
      else if (message.type === "error") this.refuse(message.what);
    },
    /** Take the conditions of seeing: those of the setup, but for instructors who look on, and in replays. */
    setSeeing() {
      const { setup, replay } = this.status;
      const { cameras = null, light = null, visibility = null } = !setup || this.status.role === "instructor" || replay ? {} : setup;
      const seeing = { real: cameras === "real", dark: light === "dark", visibility };
      if (JSON.stringify(seeing) !== JSON.stringify(this.seeing)) this.seeing = seeing;
    },
    /** Say what the station refuses; before it has welcomed the page, ask for another name or role. */
    refuse(what) {
      if (this.welcomed) return this.say(what, true);
      this.connect.close();
      Object.assign(this, { entering: true, turnedAway: what });
    },
    setScene(scene) {
      if (scene.number !== this.view.number) this.unseen = Boolean(this.status?.link);
      this.view.setScene(scene);
      this.hud.setScene(scene.readings, this.view.vehicle);
      this.title = scene.course.title;
      const angles = scene.readings.filter((reading) => reading.endsWith(" angle [rad]"));
      const flippers = angles.map((reading) => reading.split(" ")[0]);
      if (flippers.join() !== this.flippers.join()) {
        this.flippers = flippers;
        this.inputs.flippers = [];
      }
    },
    setStatus(status) {
      const heard = this.status ? this.status.message : status.clients.length > 1 ? status.message : "";
      if (status.message && status.message !== heard) this.say(status.message, false);
      const before = this.myTrial;
      this.status = status;
      const after = this.myTrial;
      if (before && after && after.recording === before.recording && after.void > before.void) this.say(VOID, true);
      this.setSeeing();
      const { trial, link } = status;
      this.view.cameras.ptz.delay = link ? 1000 * (link.command.delay + link.video.delay) : 0;
      this.view.course?.mark(trial && !trial.over ? trial.next_gate : null);
    },
    /** Show words for a while: an answer that refuses something, or what has happened. */
    say(what, refused) {
      Object.assign(this, { said: what, refused });
      clearTimeout(this.saying);
      this.saying = setTimeout(() => (this.said = ""), 6000);
    },
    /** Take the latest state; it is drawn with the browser's next frame, or never if a later one comes. */
    take(state) {
      this.state = state;
      if (state.flags !== this.flags) this.flags = state.flags;
      this.redraw();
    },
    redraw() {
      if (!this.dirty) requestAnimationFrame(this.draw);
      this.dirty = true;
    },
    draw(time) {
      this.dirty = false;
      const { state } = this;
      if (!state || !this.view.draw(state, time)) return;
      this.unseen = (state.flags & FLAG.noPicture) !== 0;
      Object.assign(this.$refs.frame.style, this.view.insetStyle);
      const { legend, full } = this.view.arrows;
      if (state.flags & FLAG.contacts || !this.contacts) this.loaded = time;
      const none = time - this.loaded > NO_LOADS;
      this.legend = none ? t("No arrows: no time is left for loads, or there are none") : legend && t("longest arrow {force} N", { force: full });
      this.hud.update(state, this.extra(state));
      this.sound.hear(state, this.hud.index);
      this.aim = this.trialOn || this.lesson?.step.name === "gates" ? this.view.aim : null;
      this.look(state);
      requestAnimationFrame((next) => this.view.adapt(next - time));
      this.$el.dispatchEvent(new CustomEvent("drawn", { detail: { ...state, drawn: performance.now() } }));
    },
    /** Show the lesson a state of the simulation. */
    look({ flags, readings }) {
      if (!this.lesson || !this.drives || flags & FLAG.replay) return;
      const { flippers } = this.hud.index;
      const angles = (flippers.front ?? Object.values(flippers).flat()).map((at) => readings[at]);
      const trial = this.myTrial;
      const begun = trial && trial.recording !== this.lesson.before; // Not that of who had the lesson before.
      const passed = begun && trial.exercise === this.lesson.exercise.name && trial.over && trial.passed;
      this.lesson.look(this.view.vehicle.body, angles, { flags, run: this.run, passed });
      if (passed) this.lesson = null;
    },
    /** Delay and trial, which no state has in itself. */
    extra(state) {
      const shown = this.trialOn ? this.status.trial : this.myTrial; // The end of a trial is its operator's.
      const trial = (state.flags & FLAG.replay) === 0 ? shown : null;
      const now = performance.now();
      const echoes = this.drives && state.clientTime > this.inputs.since && state.clientTime <= now;
      this.inputs.delay = echoes ? Math.min(now - state.clientTime, LONGEST_DELAY) : null;
      if (echoes) return { trial, delayName: t("delay"), delay: this.inputs.delay };
      return { trial, delayName: t("round trip"), delay: this.connect.roundTrip };
    },
    keepViews() {
      keep("view", this.main);
      keep("inset", this.inset ?? "");
    },
    showViews() {
      this.view?.show(this.shown.main, this.shown.inset);
      this.redraw();
    },
    /** Ask the pan-tilt-zoom camera to move; over a degraded link it obeys late, as the belts do. */
    turnCamera(order) {
      if (this.view.cameras.ptz.ask(order, performance.now())) this.redraw();
    },
    setDark(dark, chosen = true) {
      this.dark = dark;
      if (chosen) keep("theme", dark ? "dark" : "light");
      Quasar.Dark.set(dark);
      this.view?.setDark(dark);
      this.redraw();
    },
  },
};
