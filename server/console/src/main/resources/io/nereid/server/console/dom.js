// @ts-check
// Makes elements. Whatever comes from the server becomes text nodes and attributes, never markup.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {Record<string, any>} Properties
 */

/**
 * @param {Element} element
 * @param {Properties} properties
 */
function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value);
    } else if (name in element && !(element instanceof SVGElement) && name !== 'list') {
      /** @type {any} */ (element)[name] = value;
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
}

/**
 * Makes an HTML element.
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Properties} [properties] attributes, properties, and listeners by the name 'on...'
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  set(element, properties);
  append(element, children);
  return element;
}

/**
 * Makes an element of a drawing.
 *
 * @param {string} tag
 * @param {Properties} [properties]
 * @param {Child[]} children
 */
export function svg(tag, properties = {}, ...children) {
  const element = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  set(element, properties);
  append(element, children);
  return element;
}

/**
 * @param {Element} element
 * @param {Child[]} children
 */
function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Puts children in place of what an element has.
 *
 * @param {Element} element
 * @param {Child[]} children
 */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/**
 * Changes an element's text, and does nothing where it is the same already.
 *
 * @param {Element} element
 * @param {string | number} text
 */
export function say(element, text) {
  const wanted = String(text);
  if (element.textContent !== wanted) element.textContent = wanted;
}

/**
 * A colour of the style sheet, for what is drawn on a canvas.
 *
 * @param {string} name such as 'sea'
 */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}
