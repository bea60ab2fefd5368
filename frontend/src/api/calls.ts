// The calls that the page may make to Loop: one function for each bound method.
import { bound } from "./contract.gen";
import { toFailure } from "./failure";

export type Invoke = (service: string, method: string, args: unknown[]) => Promise<unknown>;

export type Api = ReturnType<typeof bound>;

export function makeApi(invoke: Invoke): Api {
  return bound(async <T>(service: string, method: string, ...args: unknown[]): Promise<T> => {
    try {
      return (await invoke(service, method, args)) as T;
    } catch (err) {
      throw toFailure(err);
    }
  });
}
