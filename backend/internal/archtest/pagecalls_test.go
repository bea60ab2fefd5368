package archtest

import (
	"fmt"
	"regexp"
)

// pageCall is one call("Service", "Method", …) in frontend/src/api.
type pageCall struct {
	where   string // file:line
	service string
	method  string
	result  *tsType // of call<T>; nil when none is given
	args    []pageArg
	err     error // what could not be read of it
}

func (c pageCall) name() string { return c.service + "." + c.method }

// pageArg is what is known of an argument: its type, or the fields of an object
// that is written out, or nothing.
type pageArg struct {
	typ    *tsType
	fields []tsField // kind tsObject only; the type of one that is not known is unknown
	object bool
}

// pageCalls finds the calls of a file.
func pageCalls(file string, toks []tsToken) (out []pageCall) {
	for i, tok := range toks {
		if tok.text != "call" || i > 0 && toks[i-1].text == "function" {
			continue
		}
		p := &tsParser{toks: toks, at: i + 1}
		c := pageCall{where: fmt.Sprintf("%s:%d", file, tok.line)}
		if p.take("<") {
			t, err := p.typ()
			if err != nil || !p.take(">") {
				c.err = fmt.Errorf("the type of the result is not understood: %w", err)
			}
			c.result = &t
		}
		if !p.take("(") {
			continue // another use of the word
		}
		args := p.arguments()
		if len(args) < 2 || len(args[0]) != 1 || len(args[1]) != 1 || !args[0][0].isString() || !args[1][0].isString() {
			c.err = fmt.Errorf("a call names its service and method as two strings")
			out = append(out, c)
			continue
		}
		c.service, c.method = args[0][0].text[1:], args[1][0].text[1:]
		params := parameters(toks, i)
		for _, arg := range args[2:] {
			a, err := argument(arg, params)
			if err != nil {
				c.err = err
			}
			c.args = append(c.args, a)
		}
		out = append(out, c)
	}
	return out
}

// arguments splits up to the closing parenthesis, which is taken.
func (p *tsParser) arguments() (out [][]tsToken) {
	depth, from := 0, p.at
	for ; p.at < len(p.toks); p.at++ {
		switch p.peek() {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth < 0 {
				if p.at > from {
					out = append(out, p.toks[from:p.at])
				}
				p.at++
				return out
			}
		case ",":
			if depth == 0 {
				out = append(out, p.toks[from:p.at])
				from = p.at + 1
			}
		}
	}
	return out
}

// parameters are those of the arrow function whose body begins at toks[body].
func parameters(toks []tsToken, body int) map[string]tsType {
	out := map[string]tsType{}
	at := body - 2
	if at < 0 || toks[body-1].text != "=>" || toks[at].text != ")" {
		return out
	}
	for depth := 0; at >= 0; at-- {
		if toks[at].text == ")" {
			depth++
		}
		if toks[at].text == "(" {
			if depth--; depth == 0 {
				break
			}
		}
	}
	p := &tsParser{toks: toks, at: at + 1}
	for _, arg := range p.arguments() {
		q := &tsParser{toks: arg, at: 1}
		q.take("?")
		if !q.take(":") {
			continue // by its default value; the compiler knows more than we need
		}
		if t, err := q.typ(); err == nil {
			out[arg[0].text] = t
		}
	}
	return out
}

func argument(arg []tsToken, params map[string]tsType) (a pageArg, err error) {
	if len(arg) == 0 {
		return a, nil
	}
	if len(arg) == 1 {
		if t, ok := params[arg[0].text]; ok {
			a.typ = &t
		}
		return a, nil
	}
	if arg[0].text == "..." {
		return a, fmt.Errorf("arguments are written out one by one, so that they can be counted")
	}
	if arg[0].text != "{" {
		return a, nil
	}
	a.object = true
	p := &tsParser{toks: arg, at: 1}
	for _, member := range p.arguments() {
		unknown := tsType{kind: tsName, name: "unknown"}
		switch {
		case member[0].text == "...":
			t, ok := params[member[len(member)-1].text]
			if !ok || len(member) != 2 {
				return a, fmt.Errorf("what is spread into an argument is a typed parameter, so that its fields are known")
			}
			a.fields = append(a.fields, tsField{name: "...", typ: t})
		case len(member) == 1:
			t, ok := params[member[0].text]
			if !ok {
				t = unknown
			}
			a.fields = append(a.fields, tsField{name: member[0].text, typ: t})
		default:
			f := tsField{name: member[0].text, typ: unknown}
			if member[0].isString() {
				f.name = f.name[1:]
			}
			if t, ok := params[member[len(member)-1].text]; ok && len(member) == 3 {
				f.typ = t
			}
			a.fields = append(a.fields, f)
		}
	}
	return a, nil
}

// bareCall is a call past the list in frontend/src/api, as the bridge itself
// makes one; only its name is looked at.
var bareCall = regexp.MustCompile(`\b(?:call|invoke)(?:<[^()]*>)?\(\s*"(\w+)",\s*"(\w+)"`)
