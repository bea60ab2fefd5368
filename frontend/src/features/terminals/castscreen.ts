import { provideCastScreen } from "../../session/castscreen";
import { DEFAULT_SETTINGS } from "./props";

provideCastScreen(async (cast, host) => {
  const [{ CastPlayer }] = await Promise.all([import("./player"), import("@xterm/xterm/css/xterm.css")]);
  const player = new CastPlayer(cast, host, DEFAULT_SETTINGS, () => {});
  return { seek: (s) => player.seek(s), dispose: () => player.dispose() };
});
