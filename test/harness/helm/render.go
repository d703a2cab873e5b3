// Renders the templates of a Helm chart with Go's own engine and the few functions that the chart uses.
// go run render.go <chart> <values as JSON> <name of the release>
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"text/template"
)

func toJson(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

func main() {
	chart, values := os.Args[1], map[string]any{}
	if err := json.Unmarshal([]byte(os.Args[2]), &values); err != nil {
		panic(err)
	}
	root := template.New("chart").Option("missingkey=error")
	root.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out bytes.Buffer
			err := root.ExecuteTemplate(&out, name, data)
			return strings.TrimSpace(out.String()), err
		},
		// JSON is valid YAML.
		"toYaml":     toJson,
		"toJson":     toJson,
		"quote":      func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"nindent":    func(n int, s string) string { p := strings.Repeat(" ", n); return "\n" + p + strings.ReplaceAll(s, "\n", "\n"+p) },
		"default":    func(d, v any) any { if v == nil || v == "" { return d }; return v },
		"trunc":      func(n int, s string) string { if len(s) > n { return s[:n] }; return s },
		"replace":    func(from, to, s string) string { return strings.ReplaceAll(s, from, to) },
		"regexMatch": func(pattern, s string) (bool, error) { return regexp.MatchString(pattern, s) },
		"kindIs":     func(kind string, v any) bool { return reflect.ValueOf(v).Kind().String() == kind },
		"trimSuffix": func(x, s string) string { return strings.TrimSuffix(s, x) },
	})
	files, _ := filepath.Glob(filepath.Join(chart, "templates", "*"))
	sort.Strings(files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		template.Must(root.New(filepath.Base(file)).Parse(string(text)))
	}
	data := map[string]any{
		"Values":  values,
		"Release": map[string]any{"Name": os.Args[3], "Service": "Helm", "Namespace": "default"},
		"Chart":   map[string]any{"AppVersion": "0.1.0", "Name": "intercept"},
	}
	for _, file := range files {
		if !strings.HasSuffix(file, ".yaml") {
			continue
		}
		fmt.Println("---")
		if err := root.ExecuteTemplate(os.Stdout, filepath.Base(file), data); err != nil {
			panic(err)
		}
	}
}
