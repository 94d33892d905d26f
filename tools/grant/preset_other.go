package grant

// ghCommands allow no template and no jq, which read the environment, where the
// token is; no file as a text, which would be published; no editor, no browser.
func ghCommands() []Command {
	look := func(name, more string, operands ...string) Command {
		return Command{Name: name, Options: options("--json= -R=repo --repo=repo", more), Operands: operands}
	}
	write := func(name, more string, operands ...string) Command {
		return Command{Name: name, Options: options("-b= --body=", more), Operands: operands}
	}
	const list = "-L=number --limit=number -s=name --state=name -S= --search= -A= --author= -a= --assignee= -l= --label="
	return []Command{
		look("pr list", list+" -B=ref --base=ref -H=ref --head=ref -d --draft"),
		look("pr view", "-c --comments", "ref"),
		look("pr diff", "--name-only --patch --color=always|never|auto", "ref"),
		look("pr checks", "--required --fail-fast", "ref"),
		look("pr status", "-c --conflict-status"),
		look("issue list", list+" --mention= -m= --milestone="),
		look("issue view", "-c --comments", "ref"),
		look("issue status", ""),
		look("run list", "-L=number --limit=number -b=ref --branch=ref -w=ref --workflow=ref -s=name --status=name -u= --user= -e=name --event=name -c=ref --commit=ref"),
		look("run view", "--log --log-failed -v --verbose --exit-status -j=number --job=number -a=number --attempt=number", "number"),
		look("workflow list", "-a --all -L=number --limit=number"),
		look("release list", "-L=number --limit=number --exclude-drafts --exclude-pre-releases -O=name --order=name"),
		look("release view", "", "ref"),
		look("label list", "-L=number --limit=number -S= --search= --sort=name --order=name"),
		{Name: "repo view", Options: options("--json= -b=ref --branch=ref"), Operands: []string{"repo"}},
		write("pr create", "-t= --title= -B=ref --base=ref -H=ref --head=ref -d --draft -f --fill -l= --label= -r= --reviewer= -a= --assignee="),
		write("pr comment", "", "ref"),
		write("issue create", "-t= --title= -l= --label= -a= --assignee="),
		write("issue comment", "", "ref"),
	}
}

// Options of go's commands that build. Not among them, of what runs another
// program: -exec, -toolexec, -vettool, -gccgoflags, most of -ldflags, -asmflags
// and -gcflags; of what reads and writes elsewhere: -C, -overlay, -modfile,
// -pkgdir, -outputdir and the profiles.
const (
	goBuild = `-a -n -p=number -race -msan -asan -cover -covermode=set|count|atomic -coverpkg=package -v -x -work -buildvcs=true|false|auto
		-ldflags=ldflags -mod=readonly|vendor -tags= -trimpath -installsuffix=name -buildmode=default|exe|pie|archive|c-archive|c-shared|shared|plugin
		-compiler=gc|gccgo`
	goTest = `-bench= -benchmem -benchtime=name -count=number -cpu= -failfast -fullpath -json -list= -parallel=number -run= -short -shuffle=
		-skip= -timeout=name -coverprofile=inside -fuzz= -fuzztime=name -fuzzminimizetime=name -vet=off|all -artifacts`
)

func goCommands() []Command {
	packages := []string{"package"}
	return []Command{
		{Name: "build", Options: options(goBuild, "-o=inside"), Operands: packages},
		{Name: "test", Options: options(goBuild, goTest, "-c -o=inside"), Operands: packages},
		{Name: "vet", Options: options(goBuild, "-json -c=number"), Operands: packages},
		{Name: "list", Options: options(goBuild, "-f= -json[=] -deps -test -e -find -m -u -versions -retracted -compiled -export"), Operands: packages},
		{Name: "run", Options: options(goBuild), Operands: []string{"main"}, Rest: true},
		{Name: "doc", Options: options("-all -c -cmd -short -src -u -ex"), Operands: packages},
		{Name: "fmt", Options: options("-n -x -mod=readonly|vendor"), Operands: packages},
		{Name: "env", Options: options("-json -changed"), Operands: []string{"name"}},
		{Name: "version", Options: options("-m -v -json"), Operands: inside},
		{Name: "mod tidy", Options: options("-v -x -e -diff -go=name -compat=name")},
		{Name: "mod graph", Options: options("-go=name -x")},
		{Name: "mod why", Options: options("-m -vendor"), Operands: packages},
		{Name: "mod verify"},
		{Name: "mod download", Options: options("-x -json")},
		{Name: "work sync"},
	}
}

// npmCommands run scripts of package.json by name. npm reads options up to "--",
// sets anything that is called like a setting, and takes any beginning of a
// command's name for the command; here the names are exact.
func npmCommands() []Command {
	const (
		common = `-s --silent -w=inside --workspace=inside --workspaces --include-workspace-root --if-present --json --long -l --parseable --depth=number
		--all -a --offline --prefer-offline`
		deps = `-D --save-dev -P --save-prod -O --save-optional -E --save-exact --no-save --omit=dev|optional|peer --include=dev|optional|peer
		--legacy-peer-deps --dry-run --package-lock-only --ignore-scripts --no-audit --no-fund`
	)
	scriptless := []string{"--ignore-scripts"}
	scripts := func(name string, operands ...string) Command {
		return Command{Name: name, Options: options(common), Operands: operands, Tail: true}
	}
	return []Command{
		scripts("run", "any"), scripts("run-script", "any"), scripts("test", "any"), scripts("t", "any"), scripts("start", "any"),
		{Name: "ci", Options: options(common, deps), Add: scriptless},
		{Name: "install", Options: options(common, deps), Operands: []string{"npm"}, Add: scriptless},
		{Name: "i", Options: options(common, deps), Operands: []string{"npm"}, Add: scriptless},
		{Name: "uninstall", Options: options(common, deps), Operands: []string{"npm"}, Add: scriptless},
		{Name: "ls", Options: options(common), Operands: []string{"npm"}},
		{Name: "outdated", Options: options(common), Operands: []string{"npm"}},
		{Name: "explain", Options: options(common), Operands: []string{"npm"}},
		{Name: "view", Options: options(common), Operands: []string{"npm", "name"}},
		{Name: "audit", Options: options(common, "--audit-level=info|low|moderate|high|critical|none --omit=dev|optional|peer")},
	}
}

// findTests are find's tests, and of its actions those that print.
var findTests = options(`-name= -iname= -path= -ipath= -wholename= -regex= -iregex= -regextype=name -type= -xtype= -size=signed -empty -maxdepth=number
	-mindepth=number -mtime=signed -mmin=signed -atime=signed -amin=signed -ctime=signed -cmin=signed -newer=inside -newermt= -perm=signed
	-user=name -group=name -uid=signed -gid=signed -links=signed -samefile=inside -readable -writable -executable -depth -xdev -mount
	-not -a -and -o -or -true -false -prune -quit -print -print0 -ls -printf=`)
