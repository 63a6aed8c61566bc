// @ts-check
// Numbers as people read them.

/** What stands where nothing is known. */
export const NONE = '–';

/** @param {number | null | undefined} value */
export function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e9) return trim(value / 1e9) + ' G';
  if (size >= 1e6) return trim(value / 1e6) + ' M';
  if (size >= 1e4) return trim(value / 1e3) + ' k';
  if (size >= 1000) return Math.round(value).toString().replace(/(\d)(?=\d{3}$)/, '$1\u202f');
  if (size >= 100) return Math.round(value).toString();
  return trim(value);
}

/** @param {number} value */
function trim(value) {
  return value.toPrecision(3).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}

/** @param {number | null | undefined} value requests a second */
export function rate(value) {
  return value ? number(value) : value === 0 ? '0' : NONE;
}

/** @param {number | null | undefined} us microseconds */
export function duration(us) {
  if (us === null || us === undefined || !Number.isFinite(us)) return NONE;
  if (us === 0) return '0';
  if (us < 1000) return digits(us) + ' µs';
  if (us < 1e6) return digits(us / 1e3) + ' ms';
  if (us < 6e7) return digits(us / 1e6) + ' s';
  if (us < 5.4e9) return Math.round(us / 6e7) + ' min';
  if (us < 1.7e11) return Math.round(us / 3.6e9) + ' h';
  return Math.round(us / 8.64e10) + ' days';
}

/** @param {number} value */
function digits(value) {
  return value >= 100 ? Math.round(value).toString() : trim(value);
}

/** @param {number | null | undefined} count */
export function bytes(count) {
  if (count === null || count === undefined) return NONE;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let value = count;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return digits(value) + ' ' + units[unit];
}

/** @param {number | null | undefined} part from 0 to 1 */
export function percent(part) {
  if (part === null || part === undefined || !Number.isFinite(part)) return NONE;
  return digits(part * 100) + ' %';
}

/** @param {number} ms since 1970 */
export function clock(ms) {
  return new Date(ms).toLocaleTimeString([], {hour12: false});
}

/** @param {number} ms since 1970 */
export function ago(ms) {
  const seconds = Math.max(0, Math.round((Date.now() - ms) / 1000));
  if (seconds < 90) return seconds + ' s ago';
  if (seconds < 5400) return Math.round(seconds / 60) + ' min ago';
  return Math.round(seconds / 3600) + ' h ago';
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function plural(count, one, many = one + 's') {
  return count + ' ' + (count === 1 ? one : many);
}
