/** What the panels' fields have in common. */

export const SELECT = `dense outlined options-dense emit-value map-options behavior="menu"`;
export const NUMBER = `dense outlined type="number" step="any"`;

export const numberOr = (value, fallback) => (value === "" || value === null ? fallback : Number(value));
