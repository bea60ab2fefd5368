// Package config reads and edits config.json in Loop's folder: JSON with
// comments and trailing commas. The Config struct is the one description of
// every field; its tags give defaults, limits and words for messages, and a
// schema and a reference page can be generated from Fields.
//
// Source keeps the last configuration that was whole, so that a half-typed
// edit never changes how Loop behaves. Only package daemon may import config;
// everything else is handed the values it needs.
package config
