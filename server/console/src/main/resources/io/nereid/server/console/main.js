// @ts-check
// Which page is shown, and what all of them share.
import {Failure, json} from './api.js';
import {fill, h, say} from './dom.js';
import * as missing from './missing.js';
import * as model from './model.js';
import {segment} from './names.js';
import * as overview from './overview.js';
import * as requests from './requests.js';
import * as settings from './settings.js';
import * as theme from './theme.js';
import * as trial from './try.js';

/**
 * @typedef {object} Place where the reader is
 * @property {string} page
 * @property {string} [model]
 * @property {string} [version]
 * @property {string} [inputs] what the form begins with, as a link has it
 */

/**
 * @typedef {object} Context what a page gets
 * @property {HTMLElement} root what it fills
 * @property {Place} place
 * @property {AbortSignal} signal says when another page is shown
 * @property {(state: 'live' | 'lost', why?: string) => void} pulse
 * @property {any} about the server, as api/about tells
 * @property {any} model the model of the place, as api/models/NAME tells; null where it has none
 */

/** @type {Record<string, {show: (context: Context) => void | Promise<void>, title: string}>} */
const pages = {
  '': {show: overview.show, title: 'Models'},
  requests: {show: requests.show, title: 'Requests'},
  model: {show: model.show, title: ''},
  try: {show: trial.show, title: 'Try it'},
  configuration: {show: settings.show, title: 'Configuration'},
};

/**
 * @param {string} hash
 * @returns {Place}
 */
function placeOf(hash) {
  const parts = hash.replace(/^#\/?/, '').split('/').map(part => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  if (parts[0] !== 'models' || !parts[1]) return {page: parts[0] in pages && parts.length === 1 ? parts[0] : ''};
  const version = parts[2] === 'versions' ? parts[3] : '';
  const at = version ? 4 : 2;
  const page = parts[at] ?? 'model';
  return {page: page in pages ? page : 'model', model: parts[1], version, inputs: parts[at + 1]};
}

const root = /** @type {HTMLElement} */ (document.getElementById('page'));
const pulse = /** @type {HTMLElement} */ (document.getElementById('pulse'));
const button = /** @type {HTMLButtonElement} */ (document.getElementById('theme'));
let shown = new AbortController();
let first = true;

/**
 * @param {'live' | 'lost' | 'still'} state
 * @param {string} [why]
 */
function beat(state, why) {
  pulse.dataset.state = state;
  say(pulse, state === 'live' ? 'live' : state === 'lost' ? why || 'connection lost, trying again' : '');
  pulse.hidden = state === 'still';
}

async function show() {
  shown.abort();
  shown = new AbortController();
  const {signal} = shown;
  const place = placeOf(location.hash);
  const page = pages[place.page];
  document.title = [place.model, page.title, 'Nereid'].filter(Boolean).join(' · ');
  for (const link of document.querySelectorAll('.top nav a')) {
    const here = link.getAttribute('href') === '#/' + (place.model ? '' : place.page);
    if (here) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  beat('still');
  fill(root);
  try {
    const about = await json('api/about', {signal});
    say(/** @type {Element} */ (document.getElementById('server')), `${about.name} ${about.version}`);
    const context = {root, place, signal, pulse: beat, about, model: null};
    try {
      if (place.model) context.model = await json(`api/models/${segment(place.model, place.version)}`, {signal});
    } catch (e) {
      if (!(e instanceof Failure) || e.status !== 404) throw e;
      await missing.show(context, e);
    }
    if (!place.model || context.model) await page.show(context);
  } catch (e) {
    if (!signal.aborted) fill(root, h('div', {className: 'trouble', role: 'alert'}, h('h1', {}, 'This page cannot be shown'), h('p', {}, /** @type {Error} */ (e).message)));
  }
  if (!first && !signal.aborted) {
    scrollTo(0, 0);
    root.focus({preventScroll: true});
  }
  first = false;
}

function label() {
  say(button, theme.isDark() ? 'light' : 'dark');
  button.setAttribute('aria-label', `Show it ${theme.isDark() ? 'light' : 'dark'}`);
}

button.addEventListener('click', theme.turn);
theme.changes.addEventListener('change', label);
document.querySelector('.skip')?.addEventListener('click', event => {
  event.preventDefault();
  root.focus();
});
addEventListener('hashchange', show);
addEventListener('keydown', event => {
  const field = document.querySelector('[data-shortcut]');
  if (event.key !== '/' || !field || /INPUT|TEXTAREA|SELECT/.test(/** @type {Element} */ (event.target).tagName)) return;
  event.preventDefault();
  /** @type {HTMLElement} */ (field).focus();
});
label();
show();
