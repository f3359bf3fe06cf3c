/** The page's connection to the station: JSON both ways, binary states from it; it comes back by itself. */

import { readState } from "./state.js";

const FIRST_WAIT = 250;
const LONGEST_WAIT = 5000;
const PING_EVERY = 500;
const SILENT = 1000;
const DEAD = 5000;

export class Connection {
  /**
   * @param {string} url Of the socket.
   * @param {() => object} hello The first message of each connection.
   * @param {{message: Function, state: Function, change: Function}} on What is called with JSON messages,
   *   states, and "connecting", "open" or "lost".
   */
  constructor(url, hello, on) {
    Object.assign(this, { url, hello, on, wait: FIRST_WAIT, roundTrip: null });
    this.pinging = setInterval(() => this.ping(), PING_EVERY);
    this.open();
  }

  open() {
    this.become("connecting");
    this.heard = performance.now();
    this.socket = new WebSocket(this.url);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.send(this.hello());
    this.socket.onmessage = ({ data }) => this.receive(data);
    this.socket.onclose = () => this.reopen();
  }

  /** Take the state "connecting", "open" or "lost"; what was measured before ends with it. */
  become(state) {
    if (state === this.state) return;
    this.state = state;
    this.roundTrip = null;
    this.on.change(state);
  }

  /** Ask for an answer, and notice silence: a network that breaks closes nothing by itself. */
  ping() {
    this.send({ type: "ping", time: performance.now() });
    const silence = performance.now() - this.heard;
    if (silence > SILENT) this.become("lost");
    if (silence > DEAD) this.reopen();
  }

  receive(data) {
    this.heard = performance.now();
    if (this.state === "lost") this.become("open");
    if (typeof data !== "string") {
      const state = readState(data);
      if (state) this.on.state(state);
      return;
    }
    const message = JSON.parse(data);
    if (message.type === "welcome") {
      this.wait = FIRST_WAIT;
      this.become("open");
    }
    if (message.type === "pong") this.roundTrip = performance.now() - message.time;
    else this.on.message(message);
  }

  /** Leave the socket and try another, each time after twice as long. */
  reopen() {
    this.leave();
    this.become("lost");
    this.retry = setTimeout(() => this.open(), this.wait);
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
  }

  /** Send a message; while the socket is not open it is dropped, never kept for later. */
  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Hear nothing of the socket any more; a dead one takes its time to close. */
  leave() {
    this.heard = Infinity;
    this.socket.onopen = this.socket.onmessage = this.socket.onclose = null;
    this.socket.close();
  }

  close() {
    clearInterval(this.pinging);
    clearTimeout(this.retry);
    this.leave();
  }
}
