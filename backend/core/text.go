package core

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// CheckText refuses what is no text for an agent or a person: nothing, more than
// most bytes, or bytes that are no text. what names it in the failure.
func CheckText(what, text string, most int) error {
	switch {
	case strings.TrimSpace(text) == "":
		return Fail(CodeInvalid, nil, "The "+what+" is empty.", "Write some text.")
	case len(text) > most:
		return Fail(CodeInvalid, nil, fmt.Sprintf("The %s is %d KiB long; the limit is %d KiB.", what, len(text)>>10, most>>10),
			"Put the long part into a file in the folder and name the file.")
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return Fail(CodeInvalid, nil, "The "+what+" is not plain text.", "Remove the characters that are not text.")
	}
	return nil
}

// Shortened is text of at most so many runes; what follows is replaced by an ellipsis.
func Shortened(text string, runes int) string {
	for i := range text {
		if runes--; runes < 0 {
			return text[:i] + "…"
		}
	}
	return text
}

// ShellQuote returns a word that every POSIX shell reads as s. Plain words stay as they
// are, so that a line in a shell's history is one that a person would type.
func ShellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
