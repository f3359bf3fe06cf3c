/** What the panels' fields have in common. */

export const SELECT = `dense outlined options-dense emit-value map-options behavior="menu"`;
export const NUMBER = `dense outlined type="number" step="any"`;

/** Place a menu that has come into sight: Quasar tries to for 60 ms, in which a busy browser may not have drawn it once. */
export function placeMenu({ target }) {
  if (target.matches?.(".q-menu")) window.dispatchEvent(new Event("scroll")); // After which open menus are placed anew.
}

export const numberOr = (value, fallback) => (value === "" || value === null ? fallback : Number(value));
