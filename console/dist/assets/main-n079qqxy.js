import{b}from"/console/assets/main-t6aptkvs.js";import{e}from"/console/assets/main-5p204gg3.js";function lt({text:t}){return t===null?e(v,{}):e(b,{text:t})}function v(){return e("span",{className:"text-muted","aria-label":"none",children:"–"})}function le({text:t}){return e("code",{className:"font-mono text-xs select-all",children:t})}
export{lt,v,le};
