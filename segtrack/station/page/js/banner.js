/** The one thing that an operator must know now, in words and a colour. */

import { FLAG } from "./state.js";

/**
 * The banner's words and kind; the first of what follows that is so.
 *
 * @param {object} now connection, reasons {hidden, blurred, padLost, pad}, flags, status, or null before there is one.
 * @returns {{kind: string, title: string, detail: string}} Kinds are good, wait, look and stop.
 */
export function bannerOf({ connection, reasons, flags, status }) {
  const say = (kind, title, detail = "") => ({ kind, title, detail });
  const has = (flag) => (flags & flag) !== 0;
  if (connection === "lost") return say("stop", "No connection", "Belts stop by themselves. Connecting again …");
  if (connection === "connecting" || !status) return say("wait", "Connecting …");
  if (has(FLAG.eStop)) return say("stop", "Emergency stop", "Release it, then let go of everything.");
  if (status.run === "failed") return say("stop", "Simulation failed", status.reason);
  if (status.run === "compiling") return say("wait", "Preparing the simulation …", "The first time takes longer.");
  if (status.replay) return say("look", "Replay", status.replay.name);
  if (status.role !== "driver") return say("look", ...onlooking(status));
  if (reasons.hidden) return say("stop", "Page is hidden", "Belts stop until it is seen.");
  if (reasons.blurred) return say("stop", "Page has lost the focus", "Belts stop. Click here to drive on.");
  if (reasons.padLost) return say("stop", "Gamepad lost", "Belts stop. Connect it, or use keys or touch.");
  if (status.run === "ready") return say("wait", "Ready", "Start, to drive.");
  if (status.run === "paused") return say("wait", "Paused", status.reason);
  if (status.run === "stopped") return say("wait", "Stopped", status.reason);
  if (has(FLAG.watchdog)) return say("stop", "No commands", "The station hears nothing: belts stop.");
  if (has(FLAG.trialPaused)) return say("wait", "Fault: clock stopped", status.trial?.paused ?? "");
  if (has(FLAG.slow)) return say("stop", "Slower than real time", has(FLAG.trial) ? "This repetition will be void." : "");
  return say("good", has(FLAG.trial) ? "You drive: trial" : "You drive", status.reason || reasons.pad);
}

function onlooking({ role, driver, clients }) {
  const name = clients.find(({ id }) => id === driver)?.name;
  const title = role === "instructor" ? "Instructor" : "You look on";
  return [title, name ? `${name} drives.` : "Nobody drives."];
}
