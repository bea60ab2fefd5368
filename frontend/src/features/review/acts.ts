// What can be done about hunks and lines.
import type { ReviewHunk } from "../../api/types";
import type { Comment } from "../../model/review";

export type HunkActs = { accept(h: ReviewHunk): void; takeBack(h: ReviewHunk): void; reject(h: ReviewHunk): void };

/** The line of a hunk that a comment is being written on. */
export type Writing = { hunk: string; line: number } | null;

export type CommentActs = { draft(): string; type(text: string): void; begin(hunk: string, line: number): void; save(text: string): void; cancel(): void; remove(c: Comment): void };
