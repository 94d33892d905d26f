package grant

import (
	"slices"
	"strings"
)

// gitPolicy has of git's own options those that name no folder and no program.
func gitPolicy(commands []Command) Policy {
	return Policy{
		Options:  []string{"--version", "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--glob-pathspecs", "--icase-pathspecs"},
		Commands: commands,
	}
}

// options reads lists of options, separated by white space.
func options(lists ...string) []string { return strings.Fields(strings.Join(lists, " ")) }

// Options that many of git's commands take. Not among them, of what writes or
// runs: --output, -O, --ext-diff, --textconv, --no-index, --contents, --stdin.
const (
	gitDiff = `-p -u --patch -s --no-patch -U=number --unified=number --raw --minimal --patience --histogram
		--diff-algorithm=patience|minimal|histogram|myers|default --stat[=] --compact-summary --numstat --shortstat --dirstat[=]
		--summary --patch-with-stat -z --name-only --name-status --color[=always|never|auto] --no-color
		--word-diff[=color|plain|porcelain|none] --word-diff-regex= --color-words[=] --no-renames --full-index --binary
		--abbrev[=number] -M[=number] --find-renames[=number] -C[=number] --find-copies[=number] --find-copies-harder
		--diff-filter= -S= -G= --pickaxe-all --pickaxe-regex -R --relative[=inside] -a --text -b -w --ignore-space-change
		--ignore-all-space --ignore-space-at-eol --ignore-blank-lines --inter-hunk-context=number -W --function-context
		--exit-code --quiet --no-prefix --check --no-ext-diff --no-textconv --submodule[=short|log]`
	gitLog = `--oneline --graph --all --decorate[=] --no-decorate --format= --pretty[=] -n=number --max-count=number -#
		--skip=number --since= --after= --until= --before= --author= --committer= --grep= --all-match --invert-grep -i
		--regexp-ignore-case -E --extended-regexp -F --fixed-strings -P --perl-regexp --merges --no-merges --first-parent --reverse
		--date= --date-order --topo-order --author-date-order --branches[=] --tags[=] --remotes[=] --glob= --exclude= --follow -L=
		--abbrev-commit --no-abbrev-commit --left-right --cherry-pick --cherry-mark --cherry --boundary
		--simplify-by-decoration --full-history --ancestry-path --walk-reflogs -g --source --parents --children --not
		--min-parents=number --max-parents=number --no-walk --notes[=] --no-notes -m --cc`
	gitRefs = `--contains= --no-contains= --merged= --no-merged= --points-at= --sort= --format= -i --ignore-case --color[=always|never|auto]
		--no-color --column[=]`
)

var (
	inside  = []string{"inside"}
	noDiffs = []string{"--no-ext-diff", "--no-textconv"} // no programs of diff.*.command and diff.*.textconv
)

// gitLooks are the commands that change nothing.
func gitLooks() []Command { return slices.Concat(gitTexts(), gitLists()) }

// gitTexts are those that show what files hold.
func gitTexts() []Command {
	plumbing := options(gitDiff, "-r -t -m --root --no-commit-id --cc --cached --merge-base")
	return []Command{
		{Name: "log", Options: options(gitDiff, gitLog), Operands: inside, Add: noDiffs},
		{Name: "show", Options: options(gitDiff, gitLog), Operands: inside, Add: noDiffs},
		{Name: "diff", Options: options(gitDiff, "--cached --staged --merge-base --cc --base --ours --theirs"), Operands: inside, Add: noDiffs},
		{Name: "diff-tree", Options: plumbing, Operands: inside, Add: noDiffs},
		{Name: "diff-index", Options: plumbing, Operands: inside, Add: noDiffs},
		{Name: "diff-files", Options: plumbing, Operands: inside, Add: noDiffs},
		{Name: "range-diff", Options: options(gitDiff, "--creation-factor=number --left-only --right-only"), Operands: inside, Add: noDiffs},
		{Name: "rev-list", Options: options(gitLog, "--count --objects --no-object-names --max-age=number --min-age=number"), Operands: inside},
		{Name: "cherry", Options: options("-v --abbrev[=number]"), Operands: inside},
		{Name: "shortlog", Options: options(gitLog, "-s -n -e --summary --numbered --email --group=name -w[=]"), Operands: inside},
		{Name: "reflog"},
		{Name: "reflog show", Options: options(gitDiff, gitLog), Operands: inside, Add: noDiffs},
		{Name: "reflog exists", Operands: inside},
		{
			Name: "status", Options: options(`-s --short -b --branch --porcelain[=v1|v2|1|2] --long -u[=no|normal|all] --untracked-files[=no|normal|all]
			--ignored[=traditional|no|matching] -z --ahead-behind --no-ahead-behind --renames --no-renames --show-stash`), Operands: inside,
		},
		{
			Name: "blame", Options: options(`-L= -l -t -s -e --show-email -w -M[=number] -C[=number] --root --date= -f --show-name -n --show-number -p
			--porcelain --line-porcelain --since= --first-parent --abbrev=number --ignore-rev=`), Operands: inside, Add: []string{"--no-textconv"},
		},
		{
			Name: "grep", Options: options(`-n --line-number -i --ignore-case -w --word-regexp -v --invert-match -E -G -P -F --extended-regexp
			--basic-regexp --perl-regexp --fixed-strings -l --files-with-matches --name-only -L --files-without-match -c --count -h -H
			-o --only-matching -q --quiet -z -a --text -I --cached --untracked --full-name --column -A=number -B=number -C=number
			--after-context=number --before-context=number --context=number -m=number --max-count=number --max-depth=number -W -p
			--show-function --function-context --break --heading --color[=always|never|auto] --no-color --and --or --not --all-match
			-e= -#`), Operands: []string{"any"}, Add: []string{"--no-textconv"},
		},
	}
}

// gitLists are those that list what there is.
func gitLists() []Command {
	listing := []string{"-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"}
	return []Command{
		{Name: "branch", Options: options(gitRefs, `-a --all -r --remotes -v --verbose -l --list --show-current --abbrev[=number] --no-abbrev`), Operands: inside, Needs: slices.DeleteFunc(slices.Clone(listing), func(s string) bool { return s == "-l" })},
		{Name: "tag", Options: options(gitRefs, "-l --list -n[=number]"), Operands: inside, Needs: listing},
		{Name: "stash list", Options: options(gitDiff, gitLog), Add: noDiffs},
		{Name: "stash show", Options: options(gitDiff, "--include-untracked --only-untracked"), Operands: inside, Add: noDiffs},
		{Name: "remote", Options: options("-v --verbose")},
		{Name: "remote get-url", Options: options("--all --push"), Operands: []string{"remote"}},
		{Name: "notes list", Operands: inside},
		{Name: "notes show", Operands: inside},
		{Name: "worktree list", Options: options("-v --verbose --porcelain")},
		{
			Name: "rev-parse", Options: options(`--abbrev-ref[=strict|loose] --short[=number] --verify -q --quiet --show-toplevel --git-dir --absolute-git-dir
			--git-common-dir --is-inside-work-tree --is-bare-repository --show-prefix --show-cdup --symbolic --symbolic-full-name --all --branches[=]
			--tags[=] --remotes[=] --is-shallow-repository --show-object-format`), Operands: inside,
		},
		{
			Name: "ls-files", Options: options(`-c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -u --unmerged -k --killed -t -v -z
			--exclude-standard --full-name --directory --no-empty-directory --abbrev[=number] --eol --deduplicate --error-unmatch
			-x= --exclude=`), Operands: inside,
		},
		{Name: "ls-tree", Options: options("-r -d -t -l --long -z --name-only --name-status --full-name --full-tree --abbrev[=number] --object-only --format="), Operands: inside},
		{Name: "cat-file", Options: options("-p -t -s -e"), Operands: inside},
		{Name: "describe", Options: options("--tags --all --long --abbrev=number --always --dirty[=] --exact-match --contains --match= --exclude= --first-parent --candidates=number"), Operands: inside},
		{Name: "name-rev", Options: options("--tags --name-only --all --refs= --exclude= --always"), Operands: inside},
		{Name: "merge-base", Options: options("-a --all --is-ancestor --octopus --independent --fork-point"), Operands: inside},
		{Name: "show-ref", Options: options("--head --heads --tags -d --dereference -s --hash[=number] --verify -q --quiet --abbrev[=number]"), Operands: inside},
		{Name: "for-each-ref", Options: options(gitRefs, "--count=number"), Operands: inside},
		{Name: "check-ignore", Options: options("-v --verbose -n --non-matching -q --quiet --no-index"), Operands: inside},
		{Name: "check-attr", Options: options("-a --all --cached"), Operands: inside},
		{Name: "count-objects", Options: options("-v --verbose -H --human-readable")},
		{Name: "version", Options: options("--build-options")},
	}
}

// gitStrategies are merge strategies that are git's own: another name would be
// that of a program.
const gitStrategies = "ort|recursive|resolve|octopus|ours|subtree"

// gitChanges are the commands that change the local repository. None runs what
// an argument names: no -i, -p, -e, --exec, --upload-pack, --template, -F.
func gitChanges() []Command {
	merging := "-s=" + gitStrategies + " --strategy=" + gitStrategies + " -X=name --strategy-option=name"
	return []Command{
		{Name: "add", Options: options("-A --all -u --update -n --dry-run -v --verbose -f --force -N --intent-to-add --ignore-errors --renormalize --chmod=+x|-x"), Operands: inside},
		{
			Name: "commit", Options: options(`-m= --message= -a --all --amend --no-edit --allow-empty --allow-empty-message --author= --date= -s --signoff
			-q --quiet --reset-author --fixup= --squash= -n --no-verify -o --only -C= --reuse-message= --dry-run --no-gpg-sign --short --porcelain`), Operands: inside,
		},
		{Name: "checkout", Options: options("-b= -B= --orphan= -q --quiet -f --force -t --track[=direct|inherit] --no-track --detach -d --ours --theirs -m --merge --guess --no-guess"), Operands: inside},
		{Name: "switch", Options: options("-c= -C= --create= --force-create= --orphan= -q --quiet -f --force --discard-changes -t --track[=direct|inherit] --no-track -d --detach -m --merge --guess --no-guess"), Operands: inside},
		{Name: "restore", Options: options("-s= --source= -S --staged -W --worktree -q --quiet --ours --theirs -m --merge --ignore-unmerged --overlay --no-overlay"), Operands: inside},
		{
			Name: "branch", Options: options(gitRefs, `-a --all -r --remotes -v --verbose -l --list --show-current --abbrev[=number] --no-abbrev -d -D --delete -m -M --move
			-c -C --copy -f --force -u= --set-upstream-to= --unset-upstream -t --track[=direct|inherit] --no-track -q --quiet`), Operands: inside,
		},
		{Name: "tag", Options: options(gitRefs, "-l --list -n[=number] -a --annotate -m= --message= -d --delete -f --force --no-sign"), Operands: inside},
		{Name: "merge", Options: options(merging, "--ff --no-ff --ff-only --squash --no-squash --commit --no-commit -m= --message= --abort --continue --quit -q --quiet --stat -n --no-stat --no-edit --signoff --no-verify --no-gpg-sign"), Operands: inside},
		{Name: "rebase", Options: options(merging, "--onto= --abort --continue --skip --quit --root -f --force-rebase --no-ff --keep-base --fork-point --no-fork-point --autostash --no-autostash --no-verify -q --quiet -v --verbose --no-gpg-sign"), Operands: inside},
		{Name: "cherry-pick", Options: options(merging, "-n --no-commit -x --continue --abort --skip --quit -m=number --mainline=number --ff --allow-empty --keep-redundant-commits -s --signoff --no-gpg-sign"), Operands: inside},
		{Name: "revert", Options: options(merging, "--no-edit -n --no-commit --continue --abort --skip --quit -m=number --mainline=number -s --signoff --no-gpg-sign"), Operands: inside},
		{Name: "reset", Options: options("--soft --mixed --hard --keep --merge -q --quiet -N --intent-to-add"), Operands: inside},
		{Name: "rm", Options: options("-r -f --force --cached -n --dry-run -q --quiet --ignore-unmatch"), Operands: inside},
		{Name: "mv", Options: options("-f --force -k -n --dry-run -v --verbose"), Operands: inside},
		{Name: "stash", Options: options("-q --quiet")},
		{Name: "stash push", Options: options("-m= --message= -k --keep-index --no-keep-index -u --include-untracked -a --all -q --quiet -S --staged"), Operands: inside},
		{Name: "stash pop", Options: options("--index -q --quiet"), Operands: inside},
		{Name: "stash apply", Options: options("--index -q --quiet"), Operands: inside},
		{Name: "stash drop", Options: options("-q --quiet"), Operands: inside},
		{Name: "fetch", Options: options("--all -p --prune --prune-tags -t --tags --no-tags --depth=number --deepen=number --unshallow -f --force --dry-run -v --verbose -q --quiet --no-recurse-submodules"), Operands: []string{"remote", "refspec"}},
	}
}
