package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// SchemaID names the schema; nothing is to be found under it.
const SchemaID = "https://loop.invalid/config.schema.json"

// Schema is a JSON Schema (draft 2020-12) of a settings file, made from Config.
// The words x-unit, x-merge, x-project and x-restart are Loop's own and say what the tags
// of Config do. Only what the schema's language can say is in it: Loop itself
// checks more.
func Schema() []byte {
	props := properties(describe())
	root := object(props)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = SchemaID
	root["title"] = "Settings of Loop"
	props[schemaField] = map[string]any{"type": "string", "description": "Where an editor finds this schema."}
	for _, name := range slices.Sorted(maps.Keys(later)) {
		props[name] = map[string]any{"description": "Not acted on in this version.", "deprecated": true}
	}
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("config: encode schema: %v", err)) // it is made of texts, numbers and maps
	}
	return append(out, '\n')
}

// schemaField is a member that editors look for and Loop reads past.
const schemaField = "$schema"

func properties(fields []Field) map[string]any {
	props := map[string]any{}
	for _, f := range fields {
		props[f.Name[strings.LastIndexByte(f.Name, '.')+1:]] = property(f)
	}
	return props
}

func object(props map[string]any) map[string]any {
	return map[string]any{"type": "object", "properties": props, "additionalProperties": false}
}

func property(f Field) map[string]any {
	p := map[string]any{"type": kinds[f.typ.Kind()][2]}
	if f.Parts != nil {
		p = object(properties(f.Parts))
	}
	if f.typ.Kind() == reflect.Slice {
		p["items"] = map[string]any{"type": "string"}
	}
	if isRules(f.typ) {
		p["items"] = ruleSchema(f.typ.Elem())
	}
	if f.typ == reflect.TypeFor[[]Agent]() {
		text := map[string]any{"type": "string"}
		entry := properties(agentFields())
		entry["id"], entry["name"] = map[string]any{"type": "string", "pattern": agentID.String()}, text
		p["items"] = object(entry)
	}
	if f.check == "ulimits" {
		p["propertyNames"] = map[string]any{"enum": ulimitNames}
	}
	if f.typ == reflect.TypeFor[map[string]MCPServer]() {
		texts := map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
		p["propertyNames"] = map[string]any{"pattern": serverName.String()}
		p["additionalProperties"] = map[string]any{
			"type": []string{"object", "null"}, "required": []string{"command"}, "additionalProperties": false,
			"properties": map[string]any{
				"command": map[string]any{"type": "string", "minLength": 1}, "args": texts,
				"env":  map[string]any{"type": "object", "additionalProperties": map[string]any{"type": []string{"string", "number", "boolean"}}},
				"type": map[string]any{"const": "stdio"},
			},
		}
	}
	literal(p, "minimum", f.Min)
	literal(p, "maximum", f.Max)
	literal(p, "default", f.Default)
	switch f.check {
	case "filled":
		p["pattern"] = `\S`
	case "colour":
		p["items"] = map[string]any{"type": "string", "pattern": colour.String()}
	case "theme":
		p["maxLength"] = maxThemeName
	case "url":
		p["pattern"] = `^(https?://[^?#]+)?$`
	case "keys":
		p["additionalProperties"] = map[string]any{
			"type": []string{"array", "null"}, "maxItems": maxKeys, "items": map[string]any{"type": "string", "pattern": keyPattern},
		}
	case "modes":
		p["additionalProperties"] = map[string]any{"enum": []any{ModeRecord, ModeShadow, ModeEnforce, nil}}
	case "word":
		p["pattern"] = `^([^\s-]\S*)?$`
	}
	p["description"] = f.Doc
	if f.Unit != "" {
		p["x-unit"] = f.Unit
	}
	if f.Merge != "" {
		p["x-merge"], p["x-project"] = f.Merge, f.Project
	}
	if f.Restart {
		p["x-restart"] = true
	}
	if f.Secret {
		p["writeOnly"] = true
	}
	// null is “not set” everywhere.
	p["type"] = []any{p["type"], "null"}
	if f.OneOf != nil {
		var values []any
		for _, v := range f.OneOf {
			values = append(values, v)
		}
		p["enum"] = append(values, nil)
	}
	return p
}

// ruleSchema describes a rule of the gate.
func ruleSchema(t reflect.Type) map[string]any {
	props, need := map[string]any{}, []string{"decision"}
	for sf := range t.Fields() {
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		p := map[string]any{"type": kinds[sf.Type.Kind()][2]}
		switch name {
		case "category":
			continue
		case "decision":
			p["enum"] = decisions
		case "pattern":
			need = append(need, name)
		}
		if sf.Type.Kind() == reflect.Slice {
			p["items"] = map[string]any{"type": "string"}
		}
		props[name] = p
	}
	rule := object(props)
	rule["required"] = need
	return rule
}

// literal puts JSON text out of a tag into the schema.
func literal(p map[string]any, name, text string) {
	if text != "" {
		p[name] = json.RawMessage(text)
	}
}
