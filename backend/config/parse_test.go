package config

import "loop/backend/core"

// Load reads the file at path. The Config is always usable: fields that could not be
// read have their defaults. The error is a *core.Failure when there are problems other
// than warnings; a caller with an earlier Config then keeps it. A missing file means
// defaults and no problem.
func Load(path string) (Config, []core.SettingsProblem, error) {
	doc := load(path)
	return doc.config, doc.problems, failure(doc.problems)
}

// Parse reads the text of a settings file. The path is for messages, and for relative
// paths in the text.
func Parse(path string, data []byte) (Config, []core.SettingsProblem, error) {
	doc := decode(path, data)
	doc.misplaced(false)
	return locate(doc.config, path), doc.problems, failure(doc.problems)
}

// Set writes one field as its owner.
func Set(path, field string, value any) error {
	return Editor{History: OpenHistory(path + ".history"), Trust: new(Trust)}.Set(GlobalFile(path), field, value)
}
