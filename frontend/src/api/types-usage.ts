// What runs used and cost: backend/core/usage.go.

/** In US dollars; what comes from a container is for showing only. */
export type Cost = {
  cost_usd?: number;
  cost_estimated?: boolean; // the agent named no price for a part of it
};

/** The cost of a day; the ends of runs in later events are not in it. */
export type DayCost = Cost & { last_event_id: number };

export type Tokens = { input_tokens?: number; output_tokens?: number; cache_read_tokens?: number; cache_write_tokens?: number };
export type ModelUsage = Tokens & { model: string; cost_usd?: number; context_window?: number };
export type ContextFill = { used_tokens: number; window_tokens?: number };
export type Usage = Cost & { model_usage?: ModelUsage[] | null; context?: ContextFill; session_cost_usd?: number };
