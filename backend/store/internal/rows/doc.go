// Package rows holds the typed queries that sqlc generates from
// ../../queries; only package store may import it. Change the .sql files and
// run `sqlc generate` in backend/store, never the generated files.
package rows
