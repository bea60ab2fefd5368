// Package config reads and edits settings files: config.json in Loop's folder, and
// those of projects and worktrees. They are JSON with comments and trailing commas.
// The Config struct is the one description of every field; its tags give defaults and
// limits, and the schema and the reference page are made from it.
//
// Source keeps the last configuration that was whole, so that a half-typed
// edit never changes how Loop behaves. ForDir joins the files that count for a
// directory and says where each value comes from. Only packages main, daemon and
// settings may import config; everything else is handed the values it needs.
package config
