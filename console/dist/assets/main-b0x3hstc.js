import{S}from"/console/assets/main-68gd8zrc.js";import{e}from"/console/assets/main-5rczfncf.js";function at({text:t}){return t===null?e(w,{}):e(S,{text:t})}function w(){return e("span",{className:"text-muted","aria-label":"none",children:"–"})}function Me({text:t}){return e("code",{className:"font-mono text-xs select-all",children:t})}
export{at,w,Me};
