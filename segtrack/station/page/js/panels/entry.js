/** The dialog on entering: a name, under which results are kept, and a role. */

import { LANGUAGES, chooseLanguage, language, t, told } from "../language.js";

const ROLES = { driver: "Drive", instructor: "Instruct", onlooker: "Look on" };

export const EntryDialog = {
  props: { kept: String, role: String, refused: String },
  emits: ["enter"],
  template: `
    <div class="st-veil"><form class="st-card st-entry" @submit.prevent="enter('driver')">
      <div class="st-buttons st-languages" role="group" :aria-label="t('Language')">
        <q-btn v-for="(name, code) in languages" :key="code" flat dense no-caps :lang="code" :label="name"
          :aria-pressed="code === language()" @click="chooseLanguage(code)"/></div>
      <h2>{{ t('Who are you?') }}</h2>
      <p>{{ t('Results are kept under your name.') }}</p>
      <q-input autofocus outlined v-model="name" :label="t('Your name')" maxlength="40" autocomplete="off"/>
      <p v-if="refused" class="st-refused" role="alert">{{ told(refused) }}</p>
      <div class="st-buttons">
        <q-btn v-for="(label, as) in roles" :key="as" unelevated no-caps size="lg" :disable="!name.trim()"
          :color="as === role ? 'primary' : undefined" :outline="as !== role" :label="t(label)" @click="enter(as)"/>
      </div>
    </form></div>`,
  data() {
    return { name: this.kept, roles: ROLES, languages: LANGUAGES };
  },
  methods: {
    chooseLanguage,
    language,
    t,
    told,
    enter(role) {
      if (this.name.trim()) this.$emit("enter", this.name.trim(), role);
    },
  },
};
