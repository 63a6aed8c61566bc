// @ts-check
// Shows the state of the recording, with a button that begins or ends it.
import {json, post} from './api.js';
import {h, say} from './dom.js';
import {bytes, number} from './format.js';

const PATH = '/v2/recording';
const LOOK_MS = 2000;

/**
 * Looks at the state until the signal says stop.
 *
 * @param {AbortSignal} signal
 */
export function recording(signal) {
  const figures = h('span', {className: 'soft'});
  const button = h('button', {type: 'button', hidden: true, onclick: () => show(async () => (await post(PATH, {recording: !on}, signal)).json())});
  let on = false;
  let asked = 0; // an answer to an earlier question is old

  /** @param {() => Promise<any>} get */
  async function show(get) {
    const mine = ++asked;
    try {
      const state = await get();
      if (mine !== asked) return;
      on = state.recording;
      say(button, on ? 'Stop recording' : 'Record');
      button.hidden = false;
      const dropped = state.dropped ? `, ${number(state.dropped)} were dropped` : '';
      say(figures, `${on ? 'Requests are recorded' : 'Requests are not recorded'}: ${number(state.recorded)} were since the start, ${bytes(state.written_bytes)}${dropped}.`);
    } catch (e) {
      if (!signal.aborted) say(figures, /** @type {Error} */ (e).message);
    }
  }

  const look = () => document.hidden || show(() => json(PATH, {signal}));
  const timer = setInterval(look, LOOK_MS);
  signal.addEventListener('abort', () => clearInterval(timer));
  look();
  return h('div', {className: 'row recording'}, button, figures);
}
