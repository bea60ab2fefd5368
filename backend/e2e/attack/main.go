//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// attack is one thing to try. A few are no attacks but parts that another one needs: a
// neighbour that has a secret, a server that hands out descriptors.
type attack struct {
	id string
	do func(place, *report)
}

func attacks() []attack {
	return slices.Concat(
		openAttacks(), aliasAttacks(), raceAttacks(), execAttacks(), neighbourAttacks(), filterAttacks(), ringAttacks(),
		nameAttacks(), folderAttacks(), descriptorAttacks(), metadataAttacks(), socketAttacks(), supervisorAttacks(),
		heldAttacks(), pressureAttacks(), neighbours(),
	)
}

func main() {
	if len(os.Args) < 3 {
		_, _ = fmt.Fprintln(os.Stderr, "usage: attack ID FOLDER")
		os.Exit(2)
	}
	all := attacks()
	i := slices.IndexFunc(all, func(a attack) bool { return a.id == os.Args[1] })
	if i < 0 {
		_, _ = fmt.Fprintln(os.Stderr, "no attack is called", os.Args[1])
		os.Exit(2)
	}
	r := &report{ID: os.Args[1]}
	all[i].do(place(os.Args[2]), r)
	line, err := json.Marshal(r)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = os.Stdout.Write(append(line, '\n'))
}
