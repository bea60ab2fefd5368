import type { ReactNode } from "react";
import { calledName, programName } from "../model/gate";
import { SafeLine } from "./SafeText";

/**
 * A process: its program, as the kernel knows it, then what it says of itself (children), which
 * is marked. Where the program is not known and there is nothing else, the name that it gives
 * itself.
 */
export function Process({ p, path, children }: { p: { exe?: string; command?: string }; path?: boolean; children?: ReactNode }) {
  const name = path ? (p.exe ?? "") : programName(p);
  const says = children || (!name && calledName(p) && <SafeLine text={calledName(p)} />);
  return (
    <>
      {name ? <span className={path ? "mono" : ""}><SafeLine text={name} /></span> : "a program"}
      {says && <>, <span className="process-mark">says it is</span> {says}</>}
    </>
  );
}
