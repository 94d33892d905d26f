package tools

import (
	"maps"
	"slices"
	"strings"
)

// fileTypes are the names that grep's type takes, with the file names they stand
// for. They are those that ripgrep's users know, for what is common.
var fileTypes = map[string]string{
	"asm":       "*.{asm,s,S}",
	"bazel":     "{*.bazel,*.bzl,*.BUILD,BUILD,WORKSPACE}",
	"c":         "*.{c,h,H,cats}",
	"clojure":   "*.{clj,cljc,cljs,cljx,edn}",
	"cmake":     "{*.cmake,CMakeLists.txt}",
	"config":    "*.{cfg,conf,config,ini}",
	"cpp":       "*.{C,cc,cpp,cxx,c++,H,hh,hpp,hxx,h++,h,inl,ipp,tpp}",
	"cs":        "*.cs",
	"css":       "*.{css,scss,sass,less}",
	"csv":       "*.{csv,tsv}",
	"cuda":      "*.{cu,cuh}",
	"dart":      "*.dart",
	"docker":    "{Dockerfile*,*.dockerfile,Containerfile*}",
	"elixir":    "*.{ex,exs,eex,heex,leex}",
	"elm":       "*.elm",
	"erlang":    "*.{erl,hrl}",
	"fish":      "*.fish",
	"fsharp":    "*.{fs,fsi,fsx}",
	"go":        "*.go",
	"gomod":     "{go.mod,go.sum,go.work,go.work.sum}",
	"gradle":    "*.{gradle,gradle.kts}",
	"graphql":   "*.{graphql,graphqls,gql}",
	"groovy":    "*.{groovy,gradle}",
	"h":         "*.{h,hh,hpp,hxx}",
	"haskell":   "*.{hs,lhs,cabal}",
	"html":      "*.{html,htm,xhtml}",
	"java":      "*.{java,jsp,properties}",
	"js":        "*.{js,jsx,mjs,cjs,vue}",
	"json":      "*.{json,json5,jsonc,jsonl,sarif}",
	"jsonnet":   "*.{jsonnet,libsonnet}",
	"julia":     "*.jl",
	"jupyter":   "*.ipynb",
	"kotlin":    "*.{kt,kts}",
	"lisp":      "*.{el,lisp,lsp,sc,scm}",
	"lock":      "{*.lock,package-lock.json,pnpm-lock.yaml,go.sum}",
	"log":       "*.log",
	"lua":       "*.lua",
	"make":      "{*.mk,*.mak,[Mm]akefile,[Mm]akefile.*,GNUmakefile}",
	"markdown":  "*.{md,mdx,mdown,mkd,mkdn,markdown}",
	"nim":       "*.{nim,nimble}",
	"nix":       "*.nix",
	"objc":      "*.{m,mm,h}",
	"ocaml":     "*.{ml,mli,mll,mly}",
	"perl":      "*.{pl,pm,perl,plx,PL,t}",
	"php":       "*.{php,php3,php4,php5,phtml}",
	"protobuf":  "*.proto",
	"ps":        "*.{ps1,psm1,psd1,ps1xml,cdxml}",
	"python":    "*.{py,pyi}",
	"r":         "*.{r,R,Rmd,Rnw}",
	"rst":       "*.rst",
	"ruby":      "{*.rb,*.rbw,*.gemspec,*.rake,Gemfile,Rakefile,config.ru,.irbrc}",
	"rust":      "*.rs",
	"scala":     "*.{scala,sbt}",
	"sh":        "{*.sh,*.bash,*.zsh,*.ksh,*.csh,*.fish,.bashrc,.bash_profile,.profile,.zshrc}",
	"solidity":  "*.sol",
	"sql":       "*.{sql,psql}",
	"svelte":    "*.svelte",
	"svg":       "*.svg",
	"swift":     "*.swift",
	"terraform": "*.{tf,tfvars,tf.json,tfvars.json,hcl}",
	"tex":       "*.{tex,ltx,cls,sty,bib,dtx,ins}",
	"text":      "*.txt",
	"toml":      "{*.toml,Cargo.lock}",
	"ts":        "*.{ts,tsx,cts,mts}",
	"vim":       "{*.vim,.vimrc,.gvimrc,vimrc,gvimrc}",
	"vue":       "*.vue",
	"xml":       "*.{xml,xsd,xsl,xslt,dtd,rng,sch,xjb,xhtml}",
	"yaml":      "*.{yaml,yml}",
	"zig":       "*.zig",
}

// otherTypes are further names of fileTypes.
var otherTypes = map[string]string{
	"bash": "sh", "c++": "cpp", "cc": "cpp", "cxx": "cpp", "csharp": "cs", "dockerfile": "docker", "golang": "go", "javascript": "js",
	"jsx": "js", "kt": "kotlin", "less": "css", "makefile": "make", "md": "markdown", "ml": "ocaml", "objective-c": "objc", "pl": "perl",
	"powershell": "ps", "proto": "protobuf", "py": "python", "rb": "ruby", "rs": "rust", "sass": "css", "scss": "css", "shell": "sh",
	"tf": "terraform", "tsx": "ts", "txt": "text", "typescript": "ts", "yml": "yaml",
}

// typeGlob is the glob of a type, at any depth.
func typeGlob(name string) (string, error) {
	if other := otherTypes[name]; other != "" {
		name = other
	}
	if glob := fileTypes[name]; glob != "" {
		return glob, nil
	}
	known := slices.Sorted(maps.Keys(fileTypes))
	f := badArgument("type", "there is no type %s", short(name))
	if f.Hint = didYouMean(name, known); f.Hint == "" {
		f.Hint = "use glob, or one of " + strings.Join(known, ", ")
	}
	return "", f
}
