// The bind list: what the page may ask of Loop. One function per bound method.
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
