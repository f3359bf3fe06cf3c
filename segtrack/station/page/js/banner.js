/** The one thing that an operator must know now, in words and a colour. */

import { t, told } from "./language.js";
import { FLAG } from "./state.js";

/**
 * The banner's words and kind; the first of what follows that is so.
 *
 * @param {object} now blind, whether the browser draws nothing; client, its id; connection, reasons {hidden, blurred, padLost, pad}, flags, status, or null before there is one.
 * @returns {{kind: string, title: string, detail: string}} Kinds are good, wait, look and stop.
 */
export function bannerOf({ blind, connection, reasons, flags, status, client }) {
  const say = (kind, title, detail = "") => ({ kind, title, detail });
  const has = (flag) => (flags & flag) !== 0;
  if (blind) return say("stop", t("No picture"), t("Switch on graphics in the browser: WebGL 2."));
  if (connection === "lost") return say("stop", t("No connection"), t("Belts stop by themselves. Connecting again …"));
  if (connection === "connecting" || !status) return say("wait", t("Connecting …"));
  if (has(FLAG.eStop)) return say("stop", t("Emergency stop"), t("Release it, then let go of everything."));
  if (status.run === "failed") return say("stop", t("Simulation failed"), told(status.reason));
  if (status.run === "compiling") return say("wait", t("Preparing the simulation …"), t("The first time takes longer."));
  if (status.replay) return say("look", t("Replay"), status.replay.name);
  if (status.role !== "driver") return say("look", ...onlooking({ ...status, client }));
  if (reasons.hidden) return say("stop", t("Page is hidden"), t("Belts stop until it is seen."));
  if (reasons.blurred) return say("stop", t("Page has lost the focus"), t("Belts stop. Click here to drive on."));
  if (reasons.padLost) return say("stop", t("Gamepad lost"), t("Belts stop. Connect it, or use keys or touch."));
  if (status.run === "ready") return say("wait", t("Ready"), t("Start, to drive."));
  if (status.run === "paused") return say("wait", t("Paused"), told(status.reason));
  if (status.run === "stopped") return say("wait", t("Stopped"), told(status.reason));
  if (has(FLAG.watchdog)) return say("stop", t("No commands"), t("The station hears nothing: belts stop."));
  if (has(FLAG.trialPaused)) return say("wait", t("Fault: clock stopped"), told(status.trial?.paused ?? ""));
  if (has(FLAG.slow)) {
    const why = status.prioritized ? "" : t("The operating system gives the simulation no priority.");
    return say("stop", t("Slower than real time"), `${has(FLAG.trial) ? t("This repetition will be void.") : ""} ${why}`.trim());
  }
  return say("good", has(FLAG.trial) ? t("You drive: trial") : t("You drive"), told(status.reason) || reasons.pad);
}

function onlooking({ role, driver, clients, queue, client }) {
  if (driver === null && queue[0] === client) return [t("Your turn"), t("Press Drive.")];
  const name = clients.find(({ id }) => id === driver)?.name;
  const title = role === "instructor" ? t("Instructor") : t("You look on");
  return [title, name ? t("{name} drives.", { name }) : t("Nobody drives.")];
}
