/** The page's words in the operator's language, from the table `words.json`, whose keys are the English words. */

import { reactive } from "vue";

export const LANGUAGES = { en: "English", de: "Deutsch", ja: "日本語" };
const KEPT = "segtrack-language";
const shown = reactive({ language: "en", words: {} });

/** Take the table, and the language that was chosen, or else the browser's first that there is. */
export function beginLanguage(words) {
  const wanted = [localStorage.getItem(KEPT), ...navigator.languages.map((tag) => tag.slice(0, 2))];
  shown.words = words;
  speak(wanted.find((language) => language in LANGUAGES) ?? "en");
}

/** Keep a language that a person chose. */
export function chooseLanguage(language) {
  localStorage.setItem(KEPT, language);
  speak(language);
}

export const language = () => shown.language;

/**
 * English words in the language that is shown.
 *
 * @param {string} english A key of the table.
 * @param {object} values What stands for each {name} in it.
 */
export function t(english, values = {}) {
  const entry = shown.words[english];
  if (!entry) console.error(`no words for "${english}"`);
  const text = entry?.[shown.language] ?? english;
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** The same of a name that need not be in the table, as a vehicle's own ones. */
export const nameOf = (name) => (name in shown.words ? t(name) : name);

function speak(language) {
  shown.language = language;
  document.documentElement.lang = language;
}
