package grant

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// classes are what values and operands can be.
var classes = map[string]func(string) error{
	"any":     func(string) error { return nil },
	"signed":  func(string) error { return nil }, // any, also one that begins with "-"
	"number":  checkNumber,
	"inside":  checkInside,
	"name":    checkName,
	"remote":  checkRemote,
	"refspec": checkRefspec,
	"package": checkPackage,
	"main":    checkMain,
	"ldflags": checkLdflags,
	"npm":     checkNpm,
	"repo":    checkRepo,
	"ref":     checkGhRef,
}

// Classes lists the classes of values by name.
func Classes() []string {
	var names []string
	for name := range classes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// checkValue holds a value to a class, or to values with "|" between them.
func checkValue(class, value string) error {
	if class == "" {
		return nil
	}
	if check := classes[class]; check != nil {
		return check(value)
	}
	if allowed := strings.Split(class, "|"); !slices.Contains(allowed, value) {
		return fmt.Errorf("only %s is allowed", strings.Join(allowed, ", "))
	}
	return nil
}

func matching(pattern, what string) func(string) error {
	re := regexp.MustCompile(`^(?:` + pattern + `)$`)
	return func(value string) error {
		if !re.MatchString(value) {
			return fmt.Errorf("not %s", what)
		}
		return nil
	}
}

var (
	checkNumber  = matching(`[0-9]{1,9}%?`, "a number")
	checkName    = matching(`[A-Za-z0-9][A-Za-z0-9._+-]*`, "a plain name")
	checkRemote  = matching(`[A-Za-z0-9][A-Za-z0-9._-]*`, "the name of a remote: no URL or path is allowed")
	checkRefspec = matching(`\+?[A-Za-z0-9*][A-Za-z0-9._/*-]*(:[A-Za-z0-9*][A-Za-z0-9._/*-]*)?`, "a refspec of plain names")
	checkRepo    = matching(`[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+`, "OWNER/REPOSITORY")
	checkGhRef   = matching(`[A-Za-z0-9][A-Za-z0-9._/+-]*`, "a number, a tag or a branch")
	npmSpec      = regexp.MustCompile(`^(?:@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*(?:@[0-9A-Za-z^~<>=.*+-]+)?$`)
	drive        = regexp.MustCompile(`^[A-Za-z]:[\\/]`)
)

// checkInside refuses what leads out of the folder that the program starts in.
// What a revision is named passes: main..topic, HEAD:file, :/text.
func checkInside(value string) error {
	switch {
	case strings.HasPrefix(value, "/") || strings.HasPrefix(value, `\`) || filepath.IsAbs(value) || drive.MatchString(value):
		return errors.New("an absolute path is not allowed: name it from the folder that the command runs in")
	case strings.Contains(value, "://") || strings.Contains(value, "::"):
		return errors.New("a URL is not allowed")
	case slices.Contains(strings.FieldsFunc(value, func(r rune) bool { return r == '/' || r == '\\' }), ".."):
		return errors.New("a path through .. is not allowed: set cwd, and name it from there")
	}
	return nil
}

// checkPackage is for a pattern of Go packages of this build.
func checkPackage(value string) error {
	if strings.Contains(value, "@") {
		return errors.New("a version (@) is not allowed: it would be fetched")
	}
	return checkInside(value)
}

// checkMain is for a Go program of the workspace.
func checkMain(value string) error {
	if value != "." && !strings.HasPrefix(value, "./") && !strings.HasSuffix(value, ".go") {
		return errors.New("only a program of the workspace is run: name it from here, as ./cmd/name")
	}
	return checkPackage(value)
}

// checkLdflags allows what sets texts and leaves out tables. The linker's other
// flags start programs and write files.
func checkLdflags(value string) error {
	if strings.ContainsAny(value, `'"`) {
		return errors.New("quotes are not allowed")
	}
	words := strings.Fields(value)
	for i := 0; i < len(words); i++ {
		switch word := words[i]; {
		case word == "-s" || word == "-w" || strings.HasPrefix(word, "-X="):
		case word == "-X" && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-"):
			i++
		default:
			return fmt.Errorf("%q is not allowed: only -s, -w and -X name=value", word)
		}
	}
	return nil
}

// checkNpm allows a package of the registry by its name and a version. URLs, git
// repositories, folders and aliases have a colon or a slash.
func checkNpm(value string) error {
	if !npmSpec.MatchString(value) {
		return errors.New("only a package of the registry is allowed: name or name@version")
	}
	return nil
}
