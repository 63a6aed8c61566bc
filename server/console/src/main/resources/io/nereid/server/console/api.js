// @ts-check
// Asks the server, and asks the reader for the token that the server wants.
import {h} from './dom.js';
import {eventsOf} from './events.js';

/** A reply that is not what was asked for. */
export class Failure extends Error {
  /**
   * @param {number} status 0 where no reply came
   * @param {string} message the server's own words
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const KEY = 'nereid.fields';

/** Header fields by name; they go with the tab. @type {Record<string, string>} */
const fields = JSON.parse(sessionStorage.getItem(KEY) ?? '{}');

/** The question that is open, so that several requests ask once. @type {Promise<void> | null} */
let asking = null;

/**
 * @typedef {{method?: string, headers?: Record<string, string>, body?: any, signal?: AbortSignal}} Options
 */

/**
 * Sends a request; what comes back is a success.
 *
 * @param {string} path
 * @param {Options} [options]
 * @returns {Promise<Response>}
 */
export async function ask(path, options = {}) {
  for (;;) {
    const response = await send(path, options);
    if (response.ok) return response;
    const message = await reason(response);
    const wanted = wantedField(response.status, message);
    if (!wanted) throw new Failure(response.status, message);
    asking ??= question(wanted, message).finally(() => (asking = null));
    await asking;
  }
}

/**
 * @param {string} path
 * @param {Options} options
 */
async function send(path, options) {
  try {
    return await fetch(path, {...options, headers: {...fields, ...options.headers}, cache: 'no-store'});
  } catch (e) {
    if (options.signal?.aborted) throw e;
    throw new Failure(0, 'The server does not answer.');
  }
}

/** @param {Response} response */
async function reason(response) {
  const text = await response.text();
  try {
    return String(JSON.parse(text).error ?? text);
  } catch {
    return text || `${response.status} ${response.statusText}`;
  }
}

/**
 * The header field that a refused request lacked.
 *
 * @param {number} status
 * @param {string} message
 */
function wantedField(status, message) {
  if (status === 401) return 'authorization';
  const restricted = status === 403 && /expecting header '([^']+)'/.exec(message);
  return restricted ? restricted[1] : null;
}

/**
 * @param {string} field
 * @param {string} message
 * @returns {Promise<void>}
 */
function question(field, message) {
  const bearer = field === 'authorization';
  const refused = field in fields;
  return new Promise((answered, failed) => {
    const value = h('input', {type: 'password', name: 'secret', autocomplete: 'off', required: true});
    const dialog = h(
      'dialog',
      {className: 'ask', 'aria-labelledby': 'ask-title'},
      h(
        'form',
        {method: 'dialog'},
        h('h2', {id: 'ask-title'}, bearer ? 'This server wants a token' : `This server wants ‘${field}’`),
        h('p', {className: 'soft'}, refused ? 'What you gave does not do: ' + message : message),
        h('label', {}, bearer ? 'Token' : field, value),
        h('p', {className: 'soft'}, 'It stays in this tab, and is forgotten with it.'),
        h(
          'div',
          {className: 'row'},
          h('button', {className: 'main', value: 'use'}, 'Use it'),
          h('button', {value: '', formNoValidate: true}, 'Cancel')
        )
      )
    );
    dialog.addEventListener('close', () => {
      dialog.remove();
      if (dialog.returnValue !== 'use') {
        failed(new Failure(401, message));
        return;
      }
      fields[field] = bearer ? 'Bearer ' + value.value.trim() : value.value;
      sessionStorage.setItem(KEY, JSON.stringify(fields));
      answered();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * @param {string} path
 * @param {Options} [options]
 * @returns {Promise<any>}
 */
export async function json(path, options) {
  return (await ask(path, options)).json();
}

/**
 * @param {string} path
 * @param {any} body
 * @param {AbortSignal} [signal]
 */
export async function post(path, body, signal) {
  const headers = {'content-type': 'application/json'};
  return ask(path, {method: 'POST', headers, body: JSON.stringify(body), signal});
}

/** The name of a model as a part of a path. @param {string} name */
export function modelPath(name) {
  return '/v2/models/' + encodeURIComponent(name);
}

/**
 * Reads a stream of JSON until the signal says stop, and begins again where it breaks. A page that
 * nobody sees reads nothing: a browser has few connections to a server, for all its tabs together.
 *
 * @param {string} path
 * @param {AbortSignal} signal
 * @param {(event: string, value: any) => void} take
 * @param {(state: 'live' | 'lost', why?: string) => void} state
 */
export async function follow(path, signal, take, state) {
  let wait = 500;
  while (await seen(signal)) {
    let why = '';
    const reading = untilUnseen(signal);
    try {
      const response = await ask(path, {signal: reading.signal, headers: {accept: 'text/event-stream'}});
      state('live');
      wait = 500;
      for await (const {event, data} of eventsOf(response)) {
        if (signal.aborted) return;
        take(event, JSON.parse(data));
      }
    } catch (e) {
      if (signal.aborted) return;
      why = String(/** @type {any} */ (e).message ?? e);
      if (e instanceof Failure && e.status >= 400 && e.status < 500 && e.status !== 429) {
        state('lost', why);
        return;
      }
    } finally {
      reading.end();
    }
    if (signal.aborted) return;
    if (reading.signal.aborted) continue;
    state('lost', why);
    await new Promise(done => setTimeout(done, wait));
    wait = Math.min(wait * 2, 8000);
  }
}

/**
 * Waits until somebody sees the page; false: the signal says stop.
 *
 * @param {AbortSignal} signal
 * @returns {Promise<boolean>}
 */
async function seen(signal) {
  while (!signal.aborted && document.hidden) {
    await new Promise(done => {
      document.addEventListener('visibilitychange', done, {once: true});
      signal.addEventListener('abort', done, {once: true});
    });
  }
  return !signal.aborted;
}

/**
 * A signal that says stop when the other does, or when nobody sees the page any more.
 *
 * @param {AbortSignal} signal
 */
function untilUnseen(signal) {
  const unseen = new AbortController();
  const stop = () => unseen.abort();
  const look = () => document.hidden && stop();
  signal.addEventListener('abort', stop);
  document.addEventListener('visibilitychange', look);
  addEventListener('pagehide', stop);
  const end = () => {
    signal.removeEventListener('abort', stop);
    document.removeEventListener('visibilitychange', look);
    removeEventListener('pagehide', stop);
  };
  return {signal: unseen.signal, end};
}

/** Whether requests carry a token. */
export function usesToken() {
  return 'authorization' in fields;
}
