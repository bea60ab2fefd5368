// Package sharedfolder puts files of Loop's into folders that a channel's containers see,
// and removes them again when they are old or too many. Containers can write to such a
// folder, too: no link in it is followed, and nothing in it is overwritten. It is an
// adapter; bind, sidecar and daemon may import it.
package sharedfolder
