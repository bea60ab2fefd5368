package config

import (
	"strings"
	"testing"
)

const ownImage = "loop-agent:latest"

// TestImageBase: the last stage descends from the configured image or from Loop's own.
func TestImageBase(t *testing.T) {
	for text, want := range map[string]string{
		"FROM loop-agent":                    ownImage,
		"from loop-agent:latest\nRUN true":   ownImage,
		"FROM mine:1":                        "mine:1",
		"ARG BASE_IMAGE\nFROM ${BASE_IMAGE}": "mine:1",
		"# what we need\n\nARG X=1\nARG BASE_IMAGE=x\nFROM $BASE_IMAGE":                   "mine:1",
		"FROM golang:1.26 AS build\nRUN go version\nFROM mine:1\nCOPY --from=build /x /x": "mine:1",
		"FROM --platform=linux/amd64 mine:1 AS a\nFROM debian\nFROM A as b\nFROM b":       "mine:1",
		"FROM \\\r\n# a remark\r\n\r\n  mine:1\r\n":                                       "mine:1",
		"FROM mine:1\nRUN echo \\\n FROM evil":                                            "mine:1",
		"FROM mine:1\nRUN true \\":                                                        "mine:1",
	} {
		if got, err := imageBase([]byte(text), "mine:1", ownImage); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// TestImageBaseRefused: everything else is refused, by name.
func TestImageBaseRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "no FROM",
		"# FROM mine:1":                  "no FROM",
		"ARG BASE_IMAGE":                 "no FROM",
		"FROM debian:bookworm":           "“debian:bookworm”",
		"FROM scratch":                   "“scratch”",
		"FROM mine:12":                   "“mine:12”",
		"FROM mine":                      "“mine”",
		"FROM evil/loop-agent:latest":    "“evil/loop-agent:latest”",
		"FROM mine:1\nFROM debian":       "“debian”",
		"FROM debian AS mine\nFROM mine": "“mine”",
		"FROM mine:1 AS a\nFROM debian AS a\nFROM a":                "“a”",
		"FROM ${BASE_IMAGE}":                                        "needs a line “ARG BASE_IMAGE”",
		"FROM mine:1\nARG BASE_IMAGE\nFROM $BASE_IMAGE":             "needs a line",
		"ARG X=debian\nFROM ${X}":                                   "“${X}”",
		"ARG BASE_IMAGE\nFROM ${BASE_IMAGE:-debian}":                "“${BASE_IMAGE:-debian}”",
		"FROM mine:1 as":                                            "not a line of the form",
		"FROM":                                                      "not a line of the form",
		"FROM mine:1 debian":                                        "not a line of the form",
		"RUN true\nFROM mine:1":                                     "“RUN”",
		"\ufeffFROM mine:1":                                         "comes before the first FROM",
		"{\"syntax\": \"evil\"}\nFROM mine:1":                       "comes before the first FROM",
		"// syntax=evil\nFROM mine:1":                               "comes before the first FROM",
		"# syntax=evil\nFROM mine:1":                                "in another way",
		"#!x\n#SYNTAX = evil\nFROM mine:1":                          "in another way",
		"# escape=`\nFROM mine:1":                                   "in another way",
		"FROM mine:1\nRUN cat <<EOF\nFROM mine:1\nEOF\nFROM debian": "here-document",
		"FROM mine:1\nRUN true \\\\\nFROM debian":                   "“debian”", // two backslashes end the line
		"FROM mine:1\x00":                                           "not text",
		"FROM mine:1\xff":                                           "not text",
		"FROM mi\\\n ne:1":                                          "not a line of the form",
	} {
		got, err := imageBase([]byte(text), "mine:1", ownImage)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want %s", text, got, err, want)
		}
	}
}

func FuzzImageBase(f *testing.F) {
	f.Add("ARG BASE_IMAGE\nFROM ${BASE_IMAGE} AS a\nRUN x \\\n y\nFROM a\n")
	f.Add("FROM \\\n\\\n")
	f.Fuzz(func(t *testing.T, text string) {
		base, err := imageBase([]byte(text), "mine:1", ownImage)
		if err == nil && base != "mine:1" && base != ownImage {
			t.Errorf("%q begins with %q", text, base)
		}
	})
}
