import type { Item } from "../../../model/timeline/items";

export type RowProps<T extends Item> = { item: T; open: boolean; onToggle(key: string): void };
