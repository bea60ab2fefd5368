// Why a container is as it is: each field of an explanation in words.
import type { Explanation, FieldOrigin } from "../api/types";
import { bytes } from "./containers";

export type WhyRow = {
  key: string;
  name: string; // in words
  field: string; // as the explanation calls it, or the path or variable that it is about
  value: string;
  note: string; // what is odd about it now; "" for nothing
  noteTone: "need" | "";
  layer: string;
  path: string; // of the file that has the value; "" where none does
  line: number;
  overrode: { value: string; layer: string; path: string; line: number } | null;
};

const NAMES: Record<string, string> = {
  "limits.memory_bytes": "Memory limit", "limits.cpus": "CPU limit", "limits.pids": "Process limit", "limits.swap_bytes": "Swap limit",
  network: "Network", image: "Image", scope: "Shared by", access: "Access to the folder", layout: "Layout", "life.idle": "Ends when unused for",
  "life.age": "Ends at an age of", read_only_root: "Image is read-only", work_dir: "Working folder", user: "Supervisor's user", agent: "Agent's user",
  cap_add: "Capabilities", cap_drop: "Capabilities taken away", no_new_privileges: "No new privileges", extra_hosts: "Extra hosts", dns: "DNS",
  seccomp: "Seccomp profile", apparmor: "AppArmor profile", preset: "Preset", name: "Name", type: "Type", copy: "Copy of the folder", add_dirs: "Extra folders",
};
const GROUPS: Record<string, string> = { mounts: "Folder", env: "Variable", spawn_env: "Variable of the agent", copies: "Copied file", ulimits: "Ulimit", tmpfs: "Folder in memory" };

// The order in which people look for fields. The rest comes after them, as Loop has it.
const FIRST = ["limits.memory_bytes", "limits.cpus", "limits.pids", "mounts[", "env[", "spawn_env[", "copies[", "network", "image", "scope", "life."];

function rank(field: string): number {
  const at = FIRST.findIndex((f) => field.startsWith(f));
  return at < 0 ? FIRST.length : at;
}

function named(field: string): { name: string; about: string } {
  const m = /^(\w+)\[(.*)\]$/.exec(field);
  const group = m?.[1] && GROUPS[m[1]];
  return group ? { name: group, about: m[2] ?? "" } : { name: NAMES[field] ?? field.replace(/[._]/g, " "), about: field };
}

/** A mount's value is “/source ro”. Where the source is the target, only the access is said. */
function valueOf(o: FieldOrigin, about: string): string {
  if (o.field.endsWith("_bytes") && /^\d+$/.test(o.value)) return bytes(Number(o.value));
  const m = o.field.startsWith("mounts[") && /^(.*) (rw|ro|ro \(plan\))$/.exec(o.value);
  if (!m) return o.value;
  const access = m[2] === "rw" ? "read and write" : m[2] === "ro" ? "read only" : "read only while planning";
  return m[1] === about ? access : `${access}, from ${m[1]}`;
}

/** A value as the settings have it; a setting that ends in “_mb” counts megabytes. */
function settingValue(setting: string, value: string): string {
  return setting.endsWith("_mb") && /^\d+$/.test(value) ? bytes(Number(value) * 1024 * 1024) : value || "empty";
}

/** The rows of an explanation. changed: the settings by which the container of now differs. */
export function whyRows(why: Explanation, changed: FieldOrigin[]): WhyRow[] {
  const fields = new Set(changed.map((o) => o.field));
  const rows = (why.origins ?? []).map((o, i): { row: WhyRow; rank: number } => {
    const { name, about } = named(o.field);
    const over = o.overrode;
    return {
      rank: rank(o.field),
      row: {
        key: `${i} ${o.field}`, name, field: about, value: valueOf(o, about), note: fields.has(o.field) ? "not in this container yet" : "", noteTone: fields.has(o.field) ? "need" : "",
        layer: o.layer, path: o.path ?? "", line: o.line ?? 0,
        overrode: over ? { value: settingValue(over.setting, over.value), layer: over.layer, path: over.path ?? "", line: over.line ?? 0 } : null,
      },
    };
  });
  const skipped = (why.skipped ?? []).map((s, i) => ({
    rank: rank("mounts["),
    row: { key: `skipped ${i}`, name: "Folder", field: s.text, value: "left out", note: s.reason, noteTone: "need" as const, layer: "", path: "", line: 0, overrode: null },
  }));
  const own = (r: WhyRow) => (["built-in", "host"].includes(r.layer) ? 1 : 0); // what people wrote comes before what Loop does by itself
  return [...rows, ...skipped].toSorted((a, b) => a.rank - b.rank || own(a.row) - own(b.row)).map((x) => x.row);
}

export function whyFits(r: WhyRow, typed: string, changedOnly: boolean): boolean {
  if (changedOnly && !r.note) return false;
  const text = [r.name, r.field, r.value, r.note, r.layer, r.path].join(" ").toLowerCase();
  return typed.toLowerCase().split(/\s+/).every((w) => text.includes(w));
}

/** A file's name with the last folder: “.loop/config.json:14”. */
export function shortPlace(path: string, line: number): string {
  const parts = path.split(/[\\/]/).filter(Boolean);
  return `${parts.slice(-2).join("/")}${line > 0 ? `:${line}` : ""}`;
}
