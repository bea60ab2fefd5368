package hostpty

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf16"

	"loop/backend/core"
)

// checkCommand refuses a command that Windows, which hands a program one string, would
// not hand on as it is. program is the file that was found for argv[0].
//
// A batch file is run by cmd.exe, which reads the string by rules of its own
// before any program does and has no way to quote all of them; arguments with a
// sign that means something there are refused.
func checkCommand(program string, argv []string) error {
	if strings.Contains(argv[0], `"`) { // a name is read up to the next quote, and none can be escaped
		return core.Fail(core.CodeInvalid, nil, "The program's name holds a quotation mark.", "Correct the command.")
	}
	switch strings.ToLower(path.Ext(strings.ReplaceAll(program, `\`, "/"))) {
	case ".bat", ".cmd":
		for _, a := range argv[1:] {
			if strings.ContainsAny(a, "\"%!^&|<>()\r\n") || strings.HasSuffix(a, `\`) {
				return core.Fail(core.CodeInvalid, nil, "An argument for the batch file "+program+" holds a sign that Windows would act on.",
					"Leave out \" % ! ^ & | < > ( ), line breaks and a backslash at the end, or start the program behind the batch file itself.")
			}
		}
	}
	return nil
}

// envBlock is an environment as Windows takes it: UTF-16, each variable ended by
// a zero, the whole by one more, sorted, each name once whatever its case (the
// last one counts).
func envBlock(env []string) []uint16 {
	last := map[string]string{}
	for _, kv := range env {
		// “=C:=C:\dir” is the directory of a drive.
		if at := strings.IndexByte(kv[min(1, len(kv)):], '='); at >= 0 && !strings.ContainsRune(kv, 0) {
			last[strings.ToUpper(kv[:at+1])] = kv
		}
	}
	block := ""
	for _, name := range slices.Sorted(maps.Keys(last)) {
		block += last[name] + "\x00"
	}
	return utf16.Encode([]rune(cmp.Or(block, "\x00") + "\x00"))
}
