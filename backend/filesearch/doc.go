// Package filesearch knows the names below a folder and finds those that a person means by a
// few letters. It walks through os.Root and follows no link. What git would ignore by the
// folder's own .gitignore files and .git/info/exclude is left out; git itself is never run,
// and none of its settings is read. All that it takes from the folder is bounded.
//
// Package filebridge says which folder, and keeps an Index for a while.
package filesearch
