/** The page's words in the operator's language, from the table `words.json`, whose keys are the English words. */

import { markRaw, reactive } from "vue";

export const LANGUAGES = { en: "English", de: "Deutsch", ja: "日本語" };
const KEPT = "segtrack-language";
const shown = reactive({ language: "en", words: {}, sentences: [] });

/** Take the table, and the language that was chosen, or else the browser's first that there is. */
export function beginLanguage(words) {
  const wanted = [localStorage.getItem(KEPT), ...navigator.languages.map((tag) => tag.slice(0, 2))];
  shown.words = words;
  shown.sentences = markRaw(sentencesOf(words));
  speak(wanted.find((language) => language in LANGUAGES) ?? "en");
}

/** Keep a language that a person chose. */
export function chooseLanguage(language) {
  localStorage.setItem(KEPT, language);
  speak(language);
}

export const language = () => shown.language;

/** The link of a report in the language that is shown. */
export const inLanguage = (link) => `${link}?language=${shown.language}`;

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

/** A number as the language that is shown writes it, with so many decimals, without "-0". */
export function number(value, decimals) {
  const text = value.toFixed(decimals);
  return withComma(+text === 0 ? text.replace("-", "") : text);
}

const withComma = (text) => (shown.language === "de" ? text.replace(/^([-+]?\d+)\.(\d+)$/, "$1,$2") : text);

/** The same of a name that need not be in the table, as a vehicle's own ones. */
export const nameOf = (name) => (name in shown.words ? t(name) : name);

const NAMES = ["name", "operator", "title"]; // Places of what people called something, which stays as it is
const COUNTS = ["all", "count", "done", "number", "passed", "tried"];

/** The same of a sentence of the station, in which names and numbers stand; as it is if the table has none like it. */
export function told(sentence) {
  if (sentence in shown.words || shown.language === "en") return nameOf(sentence);
  for (const [english, pattern] of shown.sentences) {
    const places = sentence.match(pattern)?.groups;
    if (places) return t(english, Object.fromEntries(Object.entries(places).map(([name, what]) => [name, toldPlace(name, what)])));
  }
  return sentence;
}

const toldPlace = (name, what) => (NAMES.includes(name) ? what : withComma(told(what)));

/** Words of the table with places in them, those with the most letters first, and patterns of what they say. */
function sentencesOf(words) {
  const fixed = (english) => english.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = (english) => {
    const names = [...english.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    return new RegExp(`^${fixed(english).reduce((all, part, i) => `${all}(?<${names[i - 1]}>${COUNTS.includes(names[i - 1]) ? "\\d+" : ".+?"})${part}`)}$`, "s");
  };
  const letters = (english) => fixed(english).join("").length;
  const withPlaces = Object.keys(words).filter((english) => english.includes("{"));
  return withPlaces.sort((a, b) => letters(b) - letters(a)).map((english) => [english, pattern(english)]);
}

function speak(language) {
  shown.language = language;
  document.documentElement.lang = language;
}
