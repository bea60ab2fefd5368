// Package rows holds the typed queries of all but what was said, which sqlc generates from
// ../../queries/rows; only package store may import it. Change the .sql files and run
// `sqlc generate` in backend/store, never the generated files.
package rows
